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

ACCEPTED = {"__clang_major__": ("Clang", 10, 20), "__GNUC__": ("GCC", 11, 15)}
"""The oldest compilers that know the host way's C++20, and the newest that nvcc 13.0 accepts (its crt/host_config.h).

The macros hold their versions; Clang defines both.
"""


def macros(*compiler: str) -> dict[str, str]:
    """Return the macros that a C++ compiler predefines; none if the command does not run or is no C++ compiler."""
    try:
        done = subprocess.run([*compiler, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True)
    except OSError:
        return {}
    return dict(re.findall(r"^#define (\w+) (.*)$", done.stdout, re.MULTILINE))


python = ".".join(map(str, sys.version_info[:2]))
clone = str(Path.cwd())
if unfit := sorted({*"'\"$`\\:;*?[]\n"} & {*clone}):
    signs = " and ".join(map(repr, unfit))
    sys.exit(
        f"the path of this clone, {clone!r}, holds {signs}; make, CMake or nvcc would misread it: rename the folder"
    )

try:
    named = shlex.split(os.environ.get("CXX", ""))
except ValueError as error:
    sys.exit(f"CXX is {os.environ['CXX']!r} ({error}): unset CXX, or give the path of a C++ compiler")
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
    macro = next((macro for macro in ACCEPTED if macro in defined), None)
    if macro is None:
        continue
    (name, oldest, newest), version = ACCEPTED[macro], int(defined[macro])
    if not oldest <= version <= newest:
        why = (
            f"nvcc 13.0 accepts {name} up to {newest}" if version > newest else f"C++20 needs {name} {oldest} or newer"
        )
        sys.exit(
            f"{shlex.join(compiler)} is {name} {version}, and {why}: "
            "install g++-15 (on Debian or Ubuntu: apt install g++-15), then `export CXX=g++-15` and start again"
        )
