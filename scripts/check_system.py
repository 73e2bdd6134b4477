"""What `make setup` needs of the system, looked for before anything is downloaded; one line says what is missing."""

import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

python = ".".join(map(str, sys.version_info[:2]))
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    sys.exit(f"Four Ways needs Python 3.11 to 3.13, and python3 is {python}: put such a one first on PATH")

named = shlex.split(os.environ.get("CXX", ""))
if named and not shutil.which(named[0]):
    sys.exit(f"CXX names {named[0]} as the C++ compiler, and there is none: unset CXX, or give its path")

here = {
    "g++": any(map(shutil.which, [*named[:1], "g++", "c++", "clang++"])),
    "python3-venv": importlib.util.find_spec("ensurepip") is not None,
    "python3-dev": Path(sysconfig.get_path("include"), "Python.h").is_file(),
}  # by Debian's package
if missing := " ".join(package for package, found in here.items() if not found):
    sys.exit(f"missing for {sys.executable} (Python {python}): {missing}; on Debian or Ubuntu: apt install {missing}")
