"""Generate committed parts of the book and the README: `fourways.book` says which."""

import sys

from fourways.book import examples, readme, wasm

match sys.argv[1:]:
    case ["commands", *names]:
        sys.exit(examples.record_examples(names))
    case ["readme"]:
        readme.main()
    case ["wasm"]:
        print(wasm.build())
    case _:
        sys.exit("python -m fourways.book commands [NAME ...] | readme | wasm")
