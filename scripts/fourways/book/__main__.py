"""Generate committed parts of the book and the README: `fourways.book` says which."""

import sys

from fourways.book import readme, wasm

match sys.argv[1:]:
    case ["readme"]:
        readme.main()
    case ["wasm"]:
        print(wasm.build())
    case _:
        sys.exit("python -m fourways.book readme | wasm")
