"""What the page "Your own kernel" runs: ten kernels with their cases, mistakes in them, a package, and the exercise."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourways import building, checking, host, kernels, sass, toolchain
from fourways.case import Case, on_a_gpu
from fourways.tables import Column, Row, Table

_TIMEOUT = 10  # seconds
_CLEAN, _NO_SEARCH = "no race was found", "races were not looked for: the compiler has no sanitizer"
_LAUNCHES = re.compile(r"\b(?:__global__|RawKernel|RawModule|SourceModule)\b")


StandIn = Callable[[Any], Callable[..., None]]
"""A question's function in the kernel's place."""


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
        "histogram",
        "blocks add without atomicAdd",
        {"atomicAdd(&counts[bin], mine[bin])": "counts[bin] += mine[bin]"},
    ),
    Mistake("column_sums", "an int holds the sum", _INT_SUM),
    Mistake("column_sums", "the same, and larger inputs", _INT_SUM, {"-1000, 1000": "0, 10_000"}),
)


def workbench() -> str:
    """Make a new folder the current one, for this process, and return the command `fourways` for a notebook's page."""
    folder = tempfile.mkdtemp(prefix="fourways-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chdir(folder)
    return f"TTY_COMPATIBLE=0 COLUMNS=92 {sys.executable} -m fourways"


def ladder() -> Table:
    """Check the kernels of LADDER as `fourways check --way host` does: run on the CPU, and compile for a GPU."""
    rows = []
    for rung in LADDER:
        path = _cases() / f"{rung.name}.cu"
        sizes, outcome = _check(Case.load(path, case=path.with_suffix(".py"), timeout=_TIMEOUT))
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
            case = Case.load(Path(folder, f"{name}.cu"), case=Path(folder, f"{name}.py"), timeout=_TIMEOUT)
            rows.append({"kernel": mistake.kernel, "mistake": mistake.words, "check": _check(case)[1]})
            rows[-1]["sanitize"] = _search(case)
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
    return row["sizes"], (row["outcome"] == "right" and on_a_gpu(case)[1]) or row["outcome"]


def _search(case: Case) -> str:
    """Return what a search for races finds, _CLEAN, or _NO_SEARCH where the compiler has no sanitizer."""
    try:
        checking.search(lambda: case.ways(["host"]), "thread")
    except checking.CheckFailure as failure:
        return str(failure)
    except building.BuildError:
        return _NO_SEARCH
    return _CLEAN


def _brief(outcome: str) -> str:
    """Return the part of an outcome that says what is wrong and where, without the kernel's name and the advice."""
    line = re.sub(r"^\w+_host, |it raised \w+: ", "", outcome.splitlines()[0])
    return re.split(r"[;.] [A-Zi]|; \d+ of", line)[0]


def install(project: str, folder: str) -> None:
    """Install the package in `project` into `folder` by pip, without the network, and print the seconds it takes.

    One architecture is built: this machine's GPU, or sm_90.
    """
    gpus = toolchain.gpus()
    arch = gpus[0].arch.removeprefix("sm_") if gpus else "90"
    offline = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    setting = f"--config-settings=cmake.define.CMAKE_CUDA_ARCHITECTURES={arch}"
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", folder, setting, project]
    start = time.perf_counter()
    done = subprocess.run(command, env=toolchain.child_environment(), capture_output=True, text=True)
    print(f"pip install: exit code {done.returncode}, {time.perf_counter() - start:.0f} s{done.stderr[-2000:]}")


def run_tests(project: str, folder: str) -> None:
    """Run the tests of the package in `project`, installed in `folder`, by pytest, and print its last lines."""
    paths = os.pathsep.join([str(Path(folder).resolve()), os.environ.get("PYTHONPATH", "")])
    environment = toolchain.child_environment() | {"PYTHONPATH": paths}
    options = ["-q", "--color=no", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, f"{project}/tests"]
    print(subprocess.run(command, env=environment, capture_output=True, text=True).stdout[-400:])


def judge(kernel: str, case: str, known: str) -> str:
    """Judge the text of a kernel, with the text of its case, by the host way; `known` is a kernel not to be copied.

    Returns "Right …", or "Not yet: …" and what is wrong first. The kernel must be right at the case's sizes, be
    compiled by a GPU's compiler into other machine code than `known`, and race with nobody. The case must be able to
    refuse: its reference must not launch a kernel, and must depend on the inputs. A kernel that does nothing, one that
    writes the same number everywhere, and one whose numbers are wrong by half may not pass. A race is refused even
    where all writes agree.
    """
    if not (isinstance(kernel, str) and isinstance(case, str)):
        return "Not yet: the kernel and its case are two texts."
    if len(names := kernels.parameters(kernel)) > 1:
        return f"Not yet: the text holds {len(names)} kernels ({', '.join(names)}); the judge takes one."
    with tempfile.TemporaryDirectory() as folder:
        files = {Path(folder, "mine.cu"): kernel, Path(folder, "mine_case.py"): case, Path(folder, "known.cu"): known}
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        mine, given, other = files
        try:
            launched: list[Any] = []
            with host.noting(launched.append):
                problem = _refusal(Case.load(mine, case=given, timeout=_TIMEOUT), other, launched)
        except (kernels.InputError, building.BuildError, sass.SassError, RuntimeError) as error:
            return checking.not_yet(error)
    return problem if problem.startswith("Right") else f"Not yet: {problem}"


def _refusal(case: Case, known: Path, launched: list[Any]) -> str:
    """Return what is wrong first, or "Right …". `launched` has an element for each launch by the host way so far."""
    if not case.has_reference:
        return "the case has no reference, so the kernel would judge itself."
    ways = case.ways(["host"])
    if "host" in ways.missing:
        why = checking.not_yet(building.BuildError(ways.missing["host"]))
        return f"it cannot run on the CPU: {why.removeprefix('Not yet: ')}"
    questions = [ways.question(size) for size in ways.sizes or checking.SIZES]
    if launched or (case.file and _LAUNCHES.search(case.file.read_text(encoding="utf-8"))):
        return "the reference runs a kernel. Let it compute the answer by NumPy alone."
    if _passes(lambda _: lambda *values: None, questions):
        return "a kernel that does nothing passes this case, at all its sizes."
    varied, is_constant = _varied(case, questions)
    if is_constant:
        return "the reference gives the same answer whatever the inputs hold."
    same_everywhere = _same_everywhere(questions)
    stand_ins: dict[str, StandIn] = {
        "that writes one and the same number everywhere passes this case, at all its sizes.": lambda _: same_everywhere,
        "whose numbers are wrong by half passes this case: its rtol or atol is too wide.": _wrong_by_half,
    }
    for what, stand_in in stand_ins.items():
        if _passes(stand_in, questions) and not _tells_apart(stand_in, ways.functions["host"], varied):
            return f"a kernel {what}"
    try:
        checking.check(ways)
    except checking.CheckFailure as failure:
        return str(failure).splitlines()[0]
    note, refusal = on_a_gpu(case)
    if note or refusal:
        return refusal or note or ""
    if _is_copy(case, known):
        return "it compiles to the machine code of this page's kernel. Write one of your own."
    races = _search(case)
    if races not in (_CLEAN, _NO_SEARCH):
        return f"right, but {races.splitlines()[0]}"
    sizes = ways.sizes or checking.SIZES
    at = f"{len(sizes)} sizes, from {min(sizes):,} to {max(sizes):,}" if sizes[1:] else f"size {sizes[0]:,}"
    return f"Right at {at}; {races}."


def _passes(stand_in: StandIn, questions: Sequence[Any]) -> bool:
    """Return whether a function in the kernel's place is right at every size."""
    return all(checking.verdict(stand_in(question), "host", *question) is None for question in questions)


def _fill(outputs: Sequence[np.ndarray], contents: Sequence[Any]) -> None:
    for output, content in zip(outputs, contents, strict=True):
        output[...] = content


def _wrong_by_half(question: Any) -> Callable[..., None]:
    """Return a function that writes one and a half times the right numbers, or twice the right integers."""
    contents = [_half_more(right) for right in question[1].values()]
    return lambda *values: _fill(values[-len(contents) :], contents)


def _half_more(right: np.ndarray) -> np.ndarray:
    if right.dtype.names:
        wrong = right.copy()
        for name in right.dtype.names:
            wrong[name] = _half_more(right[name])
        return wrong
    if right.dtype.kind == "b":
        return ~right
    with np.errstate(over="ignore"):
        return right * right.dtype.type(1.5) if right.dtype.kind in "fc" else right + right


def _same_everywhere(questions: Sequence[Any]) -> Callable[..., None]:
    """Return a function that fills each output with the number in the middle between its least and its greatest."""
    expected = [question[1] for question in questions]
    middles = []
    for name in expected[0]:
        numbers = np.concatenate([right[name].ravel() for right in expected])
        middles.append(numbers[-1:])
        if numbers.size and numbers.dtype.kind in "fiu":
            least, greatest = numbers.min(), numbers.max()
            with np.errstate(all="ignore"):
                middles[-1] = least if least == greatest else numbers.dtype.type(least / 2 + greatest / 2)
    return lambda *values: _fill(values[-len(middles) :], middles)


def _tells_apart(wrong: StandIn, right: Callable[..., None], questions: Sequence[Any]) -> bool:
    """Return whether the questions that the kernel can be asked refuse a stand-in, and pass the kernel."""
    asked = [question for question in questions if _runs(right, question)]
    return not _passes(wrong, asked) and _passes(lambda _: right, asked)


def _runs(function: Callable[..., None], question: Any) -> bool:
    """Return whether a call ends without an error, right or wrong. A changed integer may lead beyond an array."""
    try:
        checking.verdict(function, "host", *question)
    except Exception:
        return False
    return True


def _varied(case: Case, questions: Sequence[Any]) -> tuple[list[Any], bool]:
    """Return a small question with an input changed, as often as the answer differs; and whether it never does.

    An answer that the reference refuses to give differs, too. Without an array or a number among the inputs, the answer
    cannot differ.
    """
    question = next((each for each in reversed(questions) if 0 < each[0][0] < 2000), questions[-1])
    inputs, expected, *rest = question
    varied, others, refused = [], 0, False
    for number, value in enumerate(inputs[1:], 1):
        for other in _others(value):
            others += 1
            values = (*inputs[:number], other, *inputs[number + 1 :])
            try:
                with np.errstate(all="ignore"):
                    answer = case.reference(*values)
            except Exception:
                refused = True
            else:
                if not all(map(checking.same, answer.values(), expected.values())):
                    varied.append((values, answer, *rest))
    return varied, bool(others) and not (varied or refused)


def _others(value: Any) -> list[Any]:
    """Return other values for an input: an array reversed, filled with an element, or with 0; another number."""
    if isinstance(value, np.ndarray) and value.size:
        flat = value.ravel()
        filled = (np.full_like(flat, flat[place]) for place in (0, -1))
        return [each.reshape(value.shape) for each in (flat[::-1].copy(), *filled, np.zeros_like(flat))]
    if isinstance(value, np.integer):
        with np.errstate(over="ignore"):
            return [value + value.dtype.type(1)]
    return [value.dtype.type(2 * value + 1)] if isinstance(value, np.floating) else []


def _is_copy(case: Case, known: Path) -> bool:
    """Return whether NVRTC, or nvcc where NVRTC refuses the kernel, makes the same machine code of both."""
    for way in ("nvrtc", "nvcc"):
        try:
            mine, other = (sass.listing(path, way, more=case.options) for path in (case.path, known))
            return list(map(str, mine)) == list(map(str, other))
        except building.BuildError:
            continue
    return False
