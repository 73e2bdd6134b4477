"""Print what the project's speed promises come to on this machine: `make bench`, or `python tests/bench GROUP ...`.

Each line is a ratio of two times that were taken in one run, in turns where the noise of the machine matters. `aim` is
what was measured on an H200 or promised. Nothing fails here: a time is no test.
"""

import argparse
import importlib
import sys
from pathlib import Path

from rich.console import Console

from fourways import toolchain

GROUPS = {
    "calls": "what a call costs the host, beside a launch from C++ or by CuPy",
    "speed": "kernels beside the device-to-device copy, and beside each other",
    "clocks": "the timer beside CUDA graphs, CUPTI and kernels of known length",
    "gpu_builds": "caches of compilers that need a GPU, and first results",
    "builds": "compilers, signatures and broadcasts; no GPU is needed",
    "targets": "the recorded lessons 09 to 14, beside what they were meant to reach",
}
WITHOUT_GPU = ("builds", "targets")


def main() -> None:
    """Print the tables of the groups named on the command line, by default of all."""
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    asked = parser.parse_args().groups or list(GROUPS)
    if unknown := [name for name in asked if name not in GROUPS]:
        parser.error(f"there is no group {unknown[0]}; there are: {', '.join(GROUPS)}")
    toolchain.activate()
    sys.path.append(str(Path(__file__).parents[1]))  # what benchmarks share with tests
    console = Console()
    for name in asked:
        console.print(f"\n{name}: {GROUPS[name]}", style="bold", highlight=False)
        if name not in WITHOUT_GPU and (reason := toolchain.missing("gpu")):
            console.print(f"skipped: {reason}", highlight=False, markup=False)
            continue
        for table in importlib.import_module(name).tables():
            console.print(table)


if __name__ == "__main__":
    main()
