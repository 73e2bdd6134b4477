"""Check Python's version before `check_system.py` runs. An old Python must be able to read this file."""

import sys

if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    python3 = ".".join(map(str, sys.version_info[:2]))
    sys.exit("Four Ways needs Python 3.11 to 3.14, and python3 is " + python3 + ": put one of these first on PATH")
