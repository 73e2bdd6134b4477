"""What of the book and the README is made by running something, and then committed."""

import sys

from fourways.book import commands, diagrams, readme

MAKERS = {"commands": commands.main, "readme": readme.main, "diagrams": diagrams.main}

if len(sys.argv) < 2 or sys.argv[1] not in MAKERS:
    sys.exit(f"python -m fourways.book {'|'.join(MAKERS)} [NAME ...]")
sys.exit(MAKERS[sys.argv[1]](sys.argv[2:]))
