"""Check that the system has what `make setup` needs, before anything is downloaded; one line says what is missing."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

NEWEST = {"__GNUC__": ("GCC", 15), "__clang_major__": ("Clang", 20)}
"""The newest compilers that nvcc 13.0 accepts (its crt/host_config.h), by the macro that holds their version."""


def macros(*compiler: str) -> dict[str, str]:
    """Return the macros that a C++ compiler predefines; none if the command does not run or is no C++ compiler."""
    try:
        done = subprocess.run([*compiler, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True)
    except OSError:
        return {}
    return dict(re.findall(r"^#define (\w+) (.*)$", done.stdout, re.MULTILINE))


python = ".".join(map(str, sys.version_info[:2]))
if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit(f"Four Ways needs Python 3.11 to 3.14, and python3 is {python}: put one of these first on PATH")

named = shlex.split(os.environ.get("CXX", ""))
if named and not macros(*named):
    sys.exit(f"CXX names a C++ compiler that does not run, {shlex.join(named)}: unset CXX, or give its path")

here = {
    "g++": bool(named) or any(map(shutil.which, ["g++", "c++", "clang++"])),
    "python3-venv": importlib.util.find_spec("ensurepip") is not None,
    "python3-dev": Path(sysconfig.get_path("include"), "Python.h").is_file(),
}  # by Debian's package
if missing := " ".join(package for package, is_here in here.items() if not is_here):
    sys.exit(f"missing for {sys.executable} (Python {python}): {missing}; on Debian or Ubuntu: apt install {missing}")

# Without CXX, CMake takes c++, the host way takes g++, and nvcc takes gcc.
for compiler in [named] if named else [["c++"], ["g++"], ["gcc"]]:
    defined = macros(*compiler)
    for macro, (name, newest) in NEWEST.items():
        if int(defined.get(macro, 0)) > newest:
            sys.exit(
                f"{shlex.join(compiler)} is {name} {defined[macro]}, and nvcc 13.0 accepts {name} up to {newest}: "
                "install g++-15 (on Debian or Ubuntu: apt install g++-15), then `export CXX=g++-15` and start again"
            )
