"""A class on one GPU: processes that do what learners do in lesson 01, all at the same time."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from fourways import toolchain
from fourways.tables import Column, Row, Table

_PROGRAM = Path(__file__).with_name("classroom_process.py")


def together(learners: Sequence[int] = (1, 10, 50)) -> Table:
    """Let so many processes get their first result at once, then edit their kernel at once, and return a row for each.

    `first_seconds` is the time from the start of all processes to the last first result, `edit_seconds` the median of
    the times from an edit to its result (host clock, both). `bytes` is the GPU's memory that a process holds.
    Raises RuntimeError if a process fails, as it does where the GPU's memory does not suffice.
    """
    import cupy as cp

    rows: list[Row] = []
    for count in learners:
        before = cp.cuda.runtime.memGetInfo()[0]
        start = time.perf_counter()
        with ExitStack() as leave:
            processes = [leave.enter_context(_learner()) for _ in range(count)]
            for process in processes:
                _line(process)
            first = time.perf_counter() - start
            held = before - cp.cuda.runtime.memGetInfo()[0]
            for process in processes:
                print("edit", file=process.stdin, flush=True)
            edits = [float(_line(process)) for process in processes]
            for process in processes:
                process.communicate()
        times = {"first_seconds": first, "edit_seconds": statistics.median(edits)}
        rows.append({"learners": count} | times | {"bytes": held // count})
    columns: list[Column] = [
        "learners",
        ("until all have a first result", lambda row: f"{row['first_seconds']:.1f} s"),
        ("an edit, median", lambda row: f"{row['edit_seconds'] * 1e3:.0f} ms"),
        ("GPU memory of each", lambda row: f"{row['bytes'] / 2**20:.0f} MiB"),
    ]
    note = "Host clock. Each learner is a process; all start at once, and all edit at once."
    return Table("classroom", rows, columns, note)


def _learner() -> "subprocess.Popen[str]":
    command, environment = [sys.executable, "-P", str(_PROGRAM)], toolchain.child_environment()
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a learner's process ended with exit code {process.wait()}")
    return line
