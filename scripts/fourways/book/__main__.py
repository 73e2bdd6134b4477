"""Generate committed parts of the book and the README: recorded examples of commands; the README's table and figure."""

import sys

from fourways.book import commands, readme

match sys.argv[1:]:
    case ["commands", *names]:
        sys.exit(commands.record_examples(names))
    case ["readme"]:
        readme.main()
    case _:
        sys.exit("python -m fourways.book commands [NAME ...] | readme")
