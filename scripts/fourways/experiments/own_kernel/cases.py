"""Ten kernels with their cases, and mistakes in them: what `fourways check` says."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fourways import checking, kernels, own_kernel
from fourways.own_kernel import Case
from fourways.tables import Column, Row, Table

TIMEOUT = 10  # seconds
CLEAN, NO_SEARCH = "no race was found", "races were not looked for: the compiler has no sanitizer"


class Rung(NamedTuple):
    """A kernel of `tests/cases`: its name, the file whose kernel does the same work, and what is hard about it."""

    name: str
    after: str
    hard: str


LADDER = (
    Rung("grey", "inducer/pycuda: simple_rgb2gray.py", "three bytes for each pixel"),
    Rung("rotate", "cupy/cupy: builtin_vectors.py", "a vector type, in arrays and by value"),
    Rung("fir", "NVIDIA/cuda-samples: convolutionSeparable.cu", "more inputs than outputs, and a macro"),
    Rung("drift", "inducer/pycuda: demo_struct.py", "structs with a gap, changed in place"),
    Rung("heat", "NVIDIA/cuda-samples: FDTD3dGPUKernel.cuh", "a grid in three dimensions, and its edges"),
    Rung("column_sums", "karpathy/llm.c: matmul_backward_bias.cu", "an output of another shape than the input"),
    Rung("reverse", "NVIDIA-developer-blog/code-samples: shared-memory.cu", "a barrier, 96 KB of shared memory"),
    Rung("dot", "cupy/cupy: reduction_atomic.py", "warps that exchange values; an order that varies"),
    Rung("histogram", "NVIDIA/cuda-samples: histogram256.cu", "atomics in shared memory and between blocks"),
    Rung("forces", "NVIDIA/cuda-samples: bodysystemcuda.cu", "two outputs, and a grid that depends on an input"),
)
"""From the easiest to the hardest. The texts are this project's own; they share the idea with the files named."""


class Mistake(NamedTuple):
    """A mistake in a kernel of `tests/cases`: texts of the kernel, and of its case, with what replaces them."""

    kernel: str
    words: str
    edits: Mapping[str, str]
    case_edits: Mapping[str, str] = {}


_INT_SUM = {"long long sum = 0": "int sum = 0"}
MISTAKES = (
    Mistake("grey", "a guard lets one thread too many pass", {"i < n": "i <= n"}),
    Mistake("reverse", "a barrier is missing", {"    __syncthreads();\n": ""}),
    Mistake(
        "histogram", "blocks add without atomicAdd", {"atomicAdd(&counts[bin], mine[bin])": "counts[bin] += mine[bin]"}
    ),
    Mistake("column_sums", "an int holds the sum", _INT_SUM),
    Mistake("column_sums", "the same, and larger inputs", _INT_SUM, {"-1000, 1000": "0, 10_000"}),
)


def ladder() -> Table:
    """Check the kernels of LADDER as `fourways check --way host` does: run on the CPU, and compile for a GPU."""
    rows = []
    for rung in LADDER:
        path = _cases() / f"{rung.name}.cu"
        sizes, outcome = _check(own_kernel.read(path, path.with_suffix(".py"), TIMEOUT))
        rows.append({**rung._asdict(), "sizes": sizes, "check": outcome})
    columns: list[Column] = [
        ("kernel", "name"),
        "after",
        ("what is hard", "hard"),
        "sizes",
        ("fourways check", "check"),
    ]
    return Table("ladder_of_kernels", rows, columns)


def mistakes() -> Table:
    """Check the kernels of MISTAKES by the host way, and search each for races as `--sanitize thread` does."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, mistake in enumerate(MISTAKES):
            name = f"{mistake.kernel}_{number}"
            for suffix, edits in ((".cu", mistake.edits), (".py", mistake.case_edits)):
                text = (_cases() / f"{mistake.kernel}{suffix}").read_text(encoding="utf-8")
                Path(folder, name + suffix).write_text(_edited(text, edits), encoding="utf-8")
            case = own_kernel.read(Path(folder, f"{name}.cu"), Path(folder, f"{name}.py"), TIMEOUT)
            outcomes = {"check": _check(case)[1], "sanitize": search(case)}
            rows.append({"kernel": mistake.kernel, "mistake": mistake.words} | outcomes)
    check = "fourways check", lambda row: _brief(row["check"])
    sanitize = "--sanitize thread", lambda row: _brief(row["sanitize"])
    return Table("mistakes", rows, ["kernel", "mistake", check, sanitize])


def _cases() -> Path:
    return kernels.root() / "tests" / "cases"


def _edited(text: str, edits: Mapping[str, str]) -> str:
    for old, new in edits.items():
        if old not in text:
            raise ValueError(f"the text has no {old!r}")
        text = text.replace(old, new)
    return text


def _check(case: Case) -> tuple[int, str]:
    """Return the number of sizes, and "right" or what is wrong: on the CPU, or for a GPU's compiler."""
    rows: Sequence[Row]
    try:
        rows = checking.check(case.ways(["host"])).rows
    except checking.CheckFailure as failure:
        rows = failure.rows
    row = next(row for row in rows if row["way"] == "host")
    line, is_compiled = own_kernel.on_a_gpu(case.source) if row["outcome"] == "right" else ("", True)
    return row["sizes"], row["outcome"] if is_compiled else line


def search(case: Case) -> str:
    """Return what a search for races finds, CLEAN, or NO_SEARCH where the compiler has no sanitizer."""
    try:
        checking.search(lambda: case.ways(["host"]), "thread")
    except checking.CheckFailure as failure:
        return NO_SEARCH if "nothing was checked" in str(failure) else str(failure)
    return CLEAN


def _brief(outcome: str) -> str:
    """Return the part of an outcome that says what is wrong and where, without the kernel's name and the advice."""
    line = re.sub(r"^\w+_host, |it raised \w+: ", "", outcome.splitlines()[0])
    return re.split(r"[;.] [A-Zi]|; \d+ of", line)[0]
