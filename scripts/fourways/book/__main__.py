"""Generate committed parts of the book and the README.

They are recorded examples of commands, the README's table and figure, and the kernel of lesson 04 in WebAssembly.
"""

import sys

from fourways.book import commands, readme, wasm

match sys.argv[1:]:
    case ["commands", *names]:
        sys.exit(commands.record_examples(names))
    case ["readme"]:
        readme.main()
    case ["wasm"]:
        print(wasm.build())
    case _:
        sys.exit("python -m fourways.book commands [NAME ...] | readme | wasm")
