"""What the page "When a kernel fails" runs: programs whose kernels go wrong, each in a fresh process.

A fault such as an illegal address ends the context of its process, so this process launches no kernel that fails. The
judge of the page's exercise needs no GPU.
"""

import ast
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import checking, fresh_process, lesson, toolchain
from fourways.tables import Column, Row, Table
from fourways.ways import WAYS, is_host, missing

PRELUDE = """
x, y, z = cp.ones((3, 1024), cp.float32)

nobodys = cp.cuda.UnownedMemory(2**46, 4096, None, 0)  # an address without memory
nowhere = cp.ndarray(1024, cp.float32, cp.cuda.MemoryPointer(nobodys, 0))

doublify(x, z)  # a first launch, which loads the kernel
z.get()
"""
"""The beginning of each program: three rows of 1,024 ones, and an array that has an address but no memory."""

_PROGRAM = """
import json, sys
from fourways.experiments import failures
failures.execute(json.load(sys.stdin))
"""
_PATIENCE = 60.0  # seconds for a program under a tool
_DUMP = {
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1",
    "CUDA_COREDUMP_GENERATION_FLAGS": "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,"
    "skip_local_memory",
}


def run(program: str, name: str = "failures", **variables: str) -> Table:
    """Run a program line by line in a fresh process, and return what each of its statements raised.

    `PRELUDE` comes first. `doublify(x, y)` launches lesson 01's kernel by CuPy with NVRTC, and `nvrtc_kernel` is the
    kernel. A statement that raises does not end the program. `variables` are set in its environment. The table has the
    name `name`, with the variables' names after it.
    """
    columns: list[Column] = ["line", ("raised", lambda row: row["raised"] or "nothing")]
    return Table("_".join([name, *variables]).lower(), _lines(program, "nvrtc", variables)[0], columns)


def by_way(program: str) -> Table:
    """Run a program once for each way that can run here, and return the first statement that raised, and its words."""
    rows: list[Row] = []
    for way in WAYS:
        if not is_host(way) and not missing(way):
            first = next((row for row in _lines(program, way, {})[0] if row["raised"]), {"line": "", "raised": ""})
            rows.append({"way": way, **first})
    columns: list[Column] = [("way", lambda row: WAYS[row["way"]].short), "line", "raised"]
    return Table("failures_by_way", rows, columns)


def log(program: str, **variables: str) -> None:
    """Run a program as `run` does, and print the lines that the driver wrote to standard error, without their times."""
    _, ended = _lines(program, "nvrtc", variables)
    told = [re.sub(r"^\[[\d:.]+\]\[\d+\]", "", line) for line in ended.words.splitlines() if "[CUDA]" in line]
    print("\n".join(dict.fromkeys(told)) or "The driver wrote nothing.")


def goes_on(faults: Mapping[str, str]) -> Table:
    """Cause each fault in a fresh process, by a statement, and return whether a launch of doublify works afterwards."""
    rows: list[Row] = []
    for fault, statement in faults.items():
        after = "wait()\ndoublify(x, z)\nassert z.get().sum() == 2048"
        told = _lines(f"wait = cp.cuda.Device().synchronize\n{statement}\n{after}", "nvrtc", {})[0]
        raised = [row["raised"] for row in told if row["raised"]]
        rows.append({"fault": fault, "raised": (raised or [""])[0], "goes_on": not told[-1]["raised"]})
    return Table("goes_on", rows)


def _lines(program: str, way: str, variables: Mapping[str, str]) -> tuple[list[Row], fresh_process.Ended]:
    """Return a row with `line` and `raised` (one line, or "") for each statement of a program, and how it ended."""
    environment = toolchain.child_environment() | dict(variables)
    task = {"setup": _setup(way), "program": program}
    ended = fresh_process.start(_PROGRAM, task=task, environment=environment, timeout=_PATIENCE)
    rows = list(ended.answer["rows"]) if ended.answer else []
    if ended.status:
        rows.append({"line": "(the process ends)", "raised": ended.why})
    return rows, ended


def _setup(way: str) -> str:
    """Return the beginning of a program: the cells of lesson 01 that define its names, and `PRELUDE`."""
    target = lesson.find("01")
    cells = [*target.cells("setup")[:1], *target.cells(f"way-{way}")]
    return "\n".join([*cells, f"doublify = doublify_{way}", PRELUDE])


def execute(task: Mapping[str, Any]) -> None:
    """Execute a task of `_lines` in this process, print its rows as JSON after each statement, and end the process."""
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(task["setup"], namespace)
    rows: list[Row] = []
    for node in ast.parse(task["program"]).body:
        raised = ""
        try:
            exec(compile(ast.Module([node], []), "program", "exec"), namespace)
        except Exception as error:
            raised = traceback.format_exception_only(error)[-1].strip().partition("\n")[0]
            raised = re.sub(r"^(?:\w+\.)+", "", raised)
        if not isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Assign) or raised:
            rows.append({"line": ast.unparse(node), "raised": raised})
        print(json.dumps({"rows": rows}), flush=True)
    os._exit(0)  # destroying a context after a fault could fail


# --- tools -----------------------------------------------------------------------------------------------------------


def sanitize(program: str) -> None:
    """Run a program under compute-sanitizer's memcheck, and print its report without the host's part."""
    options = ("--tool", "memcheck", "--padding", "256", "--show-backtrace", "device", "--report-api-errors", "no")
    with TemporaryDirectory(prefix="fourways-") as folder:
        file = _written(program, Path(folder))
        _print_report("compute-sanitizer", [*options, sys.executable, str(file)], r"=+ ?(.*\S)")


def post_mortem(program: str) -> None:
    """Run a program that lets the driver write a core dump of the GPU, and print what cuda-gdb reads in it."""
    with TemporaryDirectory(prefix="fourways-") as folder:
        dump = Path(folder, "gpu.core")
        variables = toolchain.child_environment() | _DUMP | {"CUDA_COREDUMP_FILE": str(dump)}
        file = _written(program, Path(folder))
        done = _output([sys.executable, str(file)], variables)
        if not dump.is_file():
            print("The driver wrote no core dump:", (done.strip().splitlines() or ["no output"])[-1])
            return
        print(f"The dump has {dump.stat().st_size / 1e3:,.0f} KB.")
        command = ["-batch", "-nx", "-ex", f"target cudacore {dump}", "-ex", "backtrace"]
        _print_report("cuda-gdb", command, r"((?:CUDA Exception|The exception was|\[Current focus|#\d).*\S)")


def _written(program: str, folder: Path) -> Path:
    """Write a program with its beginning into a file, for a tool that starts it."""
    file = folder / "program.py"
    file.write_text(f"{_setup('nvrtc')}\n{program}", encoding="utf-8")
    return file


def _print_report(tool: str, arguments: Sequence[str], wanted: str) -> None:
    """Print the lines of a tool's output that match `wanted`, or why there are none."""
    path = toolchain.program(tool)
    if path is None:
        print(f"{tool} is not on this machine: it comes with the full CUDA toolkit.")
        return
    said = re.sub(r"/\S+/", "", _output([str(path), *arguments], toolchain.child_environment()))  # no folders
    lines = [match[1] for line in said.splitlines() if (match := re.match(wanted, line))]
    print("\n".join(dict.fromkeys(lines) or [f"{tool}: no report", *said.splitlines()[-12:]]))


def _output(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return all output of a program; what it had written, if it takes too long."""
    both: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": environment}
    try:
        return subprocess.run(command, text=True, errors="replace", timeout=_PATIENCE, **both).stdout
    except subprocess.TimeoutExpired as error:
        return f"{(error.stdout or b'').decode(errors='replace')}\nit did not end within {_PATIENCE:.0f} s"


# --- the judge -------------------------------------------------------------------------------------------------------


def check_suspects(function: Callable[[list[str], int], Any]) -> str:
    """Judge `function(steps, raised)`: the numbers of the launches that may have caused an illegal address.

    `steps` are "launch", "wait" and "host" in the order of a program, and `raised` is the number of the first step that
    raised. A wait that raised nothing clears all launches before it. A launch returns before its kernel runs, so it
    never reports its own. The answer is a list in rising order. It is tried on six programs, and on random ones.
    """
    cases = [
        ("launch host wait", 2, "one launch, then a wait that raises"),
        ("launch launch launch wait", 3, "three launches, then a wait that raises"),
        ("launch wait launch host wait", 4, "a wait that succeeded stands between two launches"),
        (" ".join(["launch"] * 9 + ["wait"]), 9, "nine launches, then a wait that raises"),
        ("launch host launch", 2, "the step that raises is itself a launch"),
        ("launch wait launch wait launch wait", 3, "the program goes on after the step that raised"),
    ]
    numbers = np.random.default_rng()
    for _ in range(40):
        steps = numbers.choice(["launch", "launch", "wait", "host"], size=12).tolist()
        raised = int(numbers.integers(3, 12))
        if steps[raised] != "host" and _suspects(steps, raised):
            cases.append((" ".join(steps), raised, f"a program of {len(steps)} steps"))
    for words, raised, case in cases:
        steps = words.split()
        answer, right = function(list(steps), raised), _suspects(steps, raised)
        if not isinstance(answer, list | tuple) or not all(map(checking.is_whole, answer)):
            return f"Not yet: {case}: {answer!r} came; wanted is a list of step numbers."
        answer = list(answer)
        if more := sorted(set(answer) - set(right)):
            word = steps[more[0]] if more[0] in range(len(steps)) else "none"
            return f"Not yet: {case}: step {more[0]} ({word}) cannot be the cause."
        if missed := sorted(set(right) - set(answer)):
            return f"Not yet: {case}: step {missed[0]} may be the cause, too, and is not in your list."
        if answer != right:
            return f"Not yet: {case}: {answer} is not in rising order, or names a step twice."
    return f"Right for {len(cases)} programs."


def _suspects(steps: Sequence[str], raised: int) -> list[int]:
    cleared = max((number for number in range(raised) if steps[number] == "wait"), default=-1)
    return [number for number in range(cleared + 1, raised) if steps[number] == "launch"]
