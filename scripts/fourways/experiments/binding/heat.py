"""Lesson 05's project `heat`: built and installed by pip, called in ways that it must refuse, shipped as a wheel."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fourways import building, toolchain
from fourways.experiments import projects, tools
from fourways.tables import Row, Table

_ACTIVATED = ("CUDACXX", "CUDA_PATH", "CUDA_HOME", "LIBRARY_PATH", "NVCC")
_OFFLINE = ("--no-index", "--no-deps", "--no-build-isolation")
_ATTEMPTS = """
import json
from types import SimpleNamespace
import numpy as np
import heat

def stand_in(array):
    if isinstance(array, np.ndarray):
        return SimpleNamespace(__cuda_array_interface__=array.__array_interface__)
    return array

CALLS
told = {}
for name, (u, v) in calls.items():
    try:
        heat.step(stand_in(u), stand_in(v))
        told[name] = "launched", ""
    except RuntimeError as error:  # CUDA's: there is no GPU
        told[name] = "launched", str(error)
    except Exception as error:
        told[name] = type(error).__name__, str(error)
print(json.dumps(told))
"""


class Project(projects.Project):
    """A project in C++, which pip installs into its `site`."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: dict[str, dict[str, str]] = {}

    def insert(self, name: str, marker: str, lines: str) -> None:
        """Insert lines into a file of the project, above the line with `marker`. Raises what `replace` does."""
        text = self._with(name, marker)
        start = text.rindex("\n", 0, text.index(marker)) + 1
        self.write(name, text[:start] + lines.strip("\n") + "\n" + text[start:])

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file of the project. Raises ValueError if it does not."""
        self.write(name, self._with(name, old).replace(old, new))

    def _with(self, name: str, part: str) -> str:
        text = (self._root / name).read_text()
        if text.count(part) != 1:
            raise ValueError(f"{name} has {part!r} {text.count(part)} times; expected once")
        return text

    def install(self) -> None:
        """Let pip build and install the project, editable, and print the build's steps and seconds (host clock).

        The build gets this process's variables, but none of those that name a toolkit. Raises RuntimeError if it fails.
        """
        start = time.perf_counter()
        log = self._pip("install", "--verbose", "--target", self.site, "--editable", self._root)
        print(*re.findall(r"\[\d+/\d+\] .*", log), sep="\n")
        print(f"pip install: {time.perf_counter() - start:.1f} s")

    def python(self, program: str) -> None:
        """Run a program in a fresh Python process that sees no GPU; print its output, and the last line of an error.

        An edited project is rebuilt when the program imports it. If that fails, the compiler's words are printed.
        """
        print(self._python(program))

    def attempt(self, calls: str, version: str) -> Table:
        """Make the calls of a Python text in a fresh process that sees no GPU; return what became of each call.

        The text defines `calls`: by name, the arguments u and v of `heat.step`. NumPy's arrays become stand-ins for a
        GPU's. `version` names a column; the columns of earlier attempts stay, and if few calls have changed, the table
        shows these alone. A call that no check refuses comes to its launch, which fails without a GPU: "launched".
        Raises RuntimeError if the module cannot be built.
        """
        said = self._python(_ATTEMPTS.replace("CALLS", calls))
        try:
            told = json.loads(said.splitlines()[-1])
        except (IndexError, ValueError):
            raise RuntimeError(f"the calls could not be made:\n{said}") from None
        before = next(reversed(self._columns.values()), {})
        self._columns[version] = {name: verdict for name, (verdict, _) in told.items()}
        rows: list[Row] = [
            {"call": name}
            | {column: verdicts.get(name, "") for column, verdicts in self._columns.items()}
            | {"message": message if verdict != "launched" else ""}
            for name, (verdict, message) in told.items()
        ]
        changed = [row for row in rows if before.get(row["call"]) != row[version]]
        if len(changed) < len(rows) / 2:
            return Table("hostile_calls", rows, note="The other calls: as before.", shown=changed)
        return Table("hostile_calls", rows)

    def load(self) -> Any:
        """Rebuild the project if it changed, import its module into this process, and return it.

        A copy of the module's file is imported, so each call returns a new module. Raises RuntimeError if it does not
        build.
        """
        built = self._python("import heat; print(heat.__file__)").splitlines()[-1:]
        if not built or not Path(built[0]).is_file():
            raise RuntimeError("the module could not be built: try `import heat` by `python`")
        folder = Path(mkdtemp(dir=self._folder.name))
        name = f"{folder.name}.heat"  # pybind11 returns the module that it has made under a name
        return projects.imported(name, Path(shutil.copy(built[0], folder)))

    def wheel(self) -> Table:
        """Build a wheel, and return its size and its files' sizes in bytes, with two sizes to compare.

        These are a library with one call of the CUDA runtime, and the machine code of `heat.cu` (sm_75).
        """
        dist = Path(self._folder.name, "dist")
        self._pip("wheel", "--wheel-dir", dist, self._root)
        (wheel,) = dist.glob("*.whl")
        rows = projects.wheel_rows(wheel)
        one_call = Path(self._folder.name, "one_call.cpp")
        one_call.write_text('extern "C" int cudaFree(void *); int f() { return cudaFree(0); }')
        (runtime, *_) = toolchain.in_roots("lib*/libcudart_static.a", f"{toolchain.TARGET}/lib/libcudart_static.a")
        words = ("-shared", "-fPIC", one_call, f"-L{runtime.parent}", "-lcudart_static", "-s")
        tools.output(toolchain.host_compiler(), *words, "-o", one_call.with_suffix(".so"))
        rows.append({"file": "one call of the CUDA runtime", "bytes": one_call.with_suffix(".so").stat().st_size})
        code = building.build(self._root / "heat.cu", "nvcc", "sm_75").code
        rows.append({"file": "the kernel's machine code", "bytes": len(code)})
        return Table("wheel", rows, ["bytes", "file"])

    def needs(self) -> None:
        """Print what the module needs of a machine: libraries, the version of glibc, and the code that it holds."""
        module = next((self._root / "build").rglob("install/**/heat*.so"))
        libraries = [line.split()[0] for line in tools.output("ldd", module).splitlines()]
        print("libraries:", *[Path(name).name for name in libraries])
        versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", module.read_bytes())
        print("glibc {}.{} or newer".format(*max((int(a), int(b)) for a, b in versions)))
        for option, code in (("--list-elf", "machine code"), ("--list-ptx", "PTX")):
            print(f"{code}:", *re.findall(r"sm_\d+", tools.output(toolchain.program("cuobjdump"), option, module)))

    def _pip(self, command: str, *words: object) -> str:
        words = (sys.executable, "-m", "pip", command, *_OFFLINE, "--no-cache-dir", *words)
        plain = {name: value for name, value in _variables().items() if name not in _ACTIVATED}
        return tools.output(*words, environment=plain)

    def _python(self, program: str) -> str:
        prelude = f"import site\nsite.addsitedir({str(self.site)!r})\n"
        variables = _variables() | {"CUDA_VISIBLE_DEVICES": ""}
        words = [sys.executable, "-c", prelude + program]
        done = subprocess.run(words, capture_output=True, text=True, env=variables)
        if "FAILED: " in done.stderr:
            return _compiler_words(done.stderr)
        printed = re.sub(r"(?m)^Running cmake .*\n", "", done.stdout)
        error = done.stderr.splitlines()[-1:] if done.returncode else []
        return "".join([printed, *error]).rstrip()


def _compiler_words(log: str) -> str:
    """Return the lines of a failed build that lead to its first error: paths and templates' arguments shortened."""
    lines = re.sub(r"\S*/(?=[\w.-]+:\d+:\d+)", "", log).splitlines()
    lines = [re.sub(r" \[with .*", "", line) for line in lines]
    last = next((number for number, line in enumerate(lines) if " error: " in line), len(lines) - 1)
    kept = [line for line in lines[: last + 1] if re.match(r"[\w.-]+:\d+:\d+: ", line)]
    return "\n".join(line if len(line) < 120 or " error: " in line else line[:117] + " …" for line in kept)


def _variables() -> dict[str, str]:
    """Return this process's variables, with the folder of this environment's programs first in PATH."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PATH": path}
