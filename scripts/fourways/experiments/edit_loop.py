"""What lesson 00 measures: the time from an edit of a kernel to its machine code, and to the new result in Python.

Compiling needs no GPU. The judges of the lesson's exercises need neither a GPU nor a way.
"""

import functools
import itertools
import random
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import building, checking, figures, kernels, lesson, measuring, sass, toolchain
from fourways.tables import RANGE, Table, seconds, summary
from fourways.ways import WAYS, Ways, is_host

SAMPLES = 7
"""Samples of each time in a recording."""
_FACTOR = re.compile(r"(?<=#define FACTOR )\d+")
_CHANGES = """
extern "C" __global__ void number(int *y)
{
#if __CUDA_ARCH__ >= %d
    *y = %d;
#else
    *y = %d;
#endif
}
"""


class Workbench:
    """A copy of the folder `cpp`, in which doublify can be edited and rebuilt; the clone stays as it is.

    `kernel_file` is the copy of `doublify.cuh`. `arch` is the architecture to compile for: the first GPU's, or sm_90.
    The copy is deleted with this object.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="fourways-")
        self._root = Path(self._folder.name)
        shutil.copytree(kernels.root() / "cpp", self._root / "cpp")
        shutil.copy(kernels.root() / "pyproject.toml", self._root)  # CMake reads the version there
        self.kernel_file = self._root / "cpp" / "kernels" / "doublify.cuh"
        self.arch = toolchain.gpu_arch()

    @property
    def factor(self) -> int:
        """The number that the file multiplies by."""
        return int(_FACTOR.findall(self.kernel_file.read_text())[0])

    def edit(self) -> None:
        """Replace the factor by a random number, which no compiler's cache has seen."""
        self.kernel_file.write_text(_FACTOR.sub(str(random.randrange(3, 2**24)), self.kernel_file.read_text()))

    def rebuild(self) -> float:
        """Build the pybind11 module with doublify, and return the seconds. The first call builds all of it."""
        options = [f"-DCMAKE_CUDA_ARCHITECTURES={self.arch.removeprefix('sm_')}-real"]
        return building.build_binding("doublify", self._root / "build", self._root / "cpp", options)

    def compile_edits(self) -> Table:
        """Time the compilers after an edit (host clock): the kernel alone, and CMake's rebuild with its two steps.

        The compilers take turns. The note has the time of CMake's first build.
        """
        first, rounds = self.rebuild(), measuring.rounds(SAMPLES)
        names = ("NVRTC", "nvcc", "CMake", "CMake: nvcc", "CMake: linker")
        samples: dict[str, list[float]] = {name: [] for name in names}
        for compiler in measuring.turns(rounds, names[:3]):
            self.edit()
            if compiler == "CMake":
                samples[compiler].append(self.rebuild())
                samples["CMake: nvcc"].append(self._step(".cu.o"))
                samples["CMake: linker"].append(self._step(".so"))
            else:
                samples[compiler].append(building.build(self.kernel_file, compiler.lower(), arch=self.arch).seconds)
        rows = [{"compiler": name, "clock": "host", "seconds": summary(times)} for name, times in samples.items()]
        note = f"{rounds} samples each, for {self.arch}. CMake's first build took {seconds(first)}."
        return Table("compile_edit", rows, ["compiler", "seconds", RANGE], note)

    def _step(self, suffix: str) -> float:
        """Return the seconds of the last step that made a file with this suffix, from Ninja's log (milliseconds)."""
        log = (self._root / "build" / ".ninja_log").read_text().splitlines()
        start, end = next(line.split("\t")[:2] for line in reversed(log) if line.split("\t")[-2].endswith(suffix))
        return (int(end) - int(start)) / 1000

    def loops(self, ways: Ways) -> Table:
        """Time the whole loop, from an edit to the new result in Python (host clock), for every way on the GPU.

        A way is timed in this process and in a fresh one; a way that is built ahead of time only in a fresh one, with
        its rebuild. The fresh process runs the cells of lesson 00. Where there is no GPU, the host way is timed.
        The functions of `ways` must read `kernel_file`. Raises AssertionError if an old result comes.
        """
        (x,) = ways.make_inputs(16)
        self.rebuild()  # so that no sample has the first build
        rounds = measuring.rounds(SAMPLES)
        timed = [way for way in ways.runnable if not is_host(way)] or list(ways.runnable)

        def running(way: str) -> float:
            given, result = checking.place(way, x), checking.place(way, np.empty_like(x))
            self.edit()
            start = time.perf_counter()
            ways.functions[way](given, result)
            fetched = checking.fetch(result)
            elapsed = time.perf_counter() - start
            assert checking.compare(fetched, self.factor * x) is None, f"{way}: an old result"
            return elapsed

        def fresh(way: str) -> float:
            self.edit()
            variables = {"FOURWAYS_ROOT": str(self._root)}
            rebuilt, module = (self.rebuild(), self._root / "build") if WAYS[way].is_shipped_built else (0.0, None)
            return rebuilt + sum(measuring.first_result(lesson.find("00"), way, variables, module).values())

        samplers: dict[tuple[str, str], Callable[[], float]] = {}
        for way in timed:
            if not WAYS[way].is_shipped_built:  # an imported module stays in the process
                samplers[way, "running process"] = functools.partial(running, way)
            samplers[way, "fresh process"] = functools.partial(fresh, way)
        rows = [
            {"way": way, "loop": loop, "clock": "host", "seconds": summary(times)}
            for (way, loop), times in measuring.sampled(samplers, rounds).items()
        ]
        return Table("edit_loop", rows, ["way", "loop", "seconds", RANGE], f"{rounds} samples each, 16 elements.")


def figure(loops: Table) -> Any:
    """Draw the rows of `Workbench.loops` as dots with lines from p10 to p90."""
    ranges, colours = {}, {}
    for row in sorted(loops.rows, key=lambda row: row["seconds"]["median"]):
        name = f"{row['way']}, {row['loop']}"
        ranges[name] = tuple(row["seconds"][key] for key in ("median", "p10", "p90"))
        colours[name] = figures.COLOURS.get(row["way"], "")
    medians = [middle for middle, *_ in ranges.values()]
    title = f"From edit to new result: {seconds(min(medians))} to {seconds(max(medians))}"
    return figures.dots(ranges, seconds, colours, title)


def check_two_calls(function: Callable[[Callable[[], None]], Any]) -> str:
    """Judge `function(call)`, which calls `call` twice and returns the seconds of the first and the second call.

    The judge's calls wait for random times. The two of a pair differ by 30 ms at least, so a mean is neither.
    """
    for _ in range(3):
        taken: list[float] = []
        waits = random.sample((0.02, 0.06, 0.1), 2)

        def call(taken: list[float] = taken, waits: list[float] = waits) -> None:
            start = time.perf_counter()
            time.sleep(waits[len(taken) % 2] + random.uniform(0, 0.01))
            taken.append(time.perf_counter() - start)

        answer = function(call)
        if len(taken) != 2:
            return f"Not yet: the function called {len(taken)} times; two calls are wanted."
        try:
            given = list(itertools.islice(answer, 3))
        except TypeError:
            given = []
        numbers = [number for each in given if (number := checking.as_float(each)) is not None]
        if not len(given) == len(numbers) == 2:
            return f"Not yet: {answer!r} came; wanted are two numbers, the seconds of each call."
        for name, told, true in zip(("first", "second"), numbers, taken, strict=True):
            if not abs(told - true) <= 0.008:  # which NaN fulfils neither
                return f"Not yet: the {name} call waited {true:.3f} s, and the function says {told:.3f} s."
    return "Right for six calls of different lengths."


def check_same_code(function: Callable[[str, str, str], Any]) -> str:
    """Judge `function(text, arch, other)`: whether NVRTC makes the same instructions for both architectures.

    The function is tried on the kernel doublify, and on two that write another number from some architecture on.
    """
    archs = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
    numbers, since = random.sample(range(1, 10**6), 2), random.sample((860, 900), 2)
    pairs = [("sm_90", "sm_90"), ("sm_80", "sm_86"), ("sm_100", "sm_120")]
    texts = kernels.source("doublify"), *(_CHANGES % (arch, *numbers) for arch in since)
    for text in texts:
        code = {arch: instructions(text, arch) for arch in archs}
        for arch, other in (*pairs, random.sample(archs, 2)):
            answer, same = function(text, arch, other), code[arch] == code[other]
            if not isinstance(answer, bool | np.bool_):
                return f"Not yet: {answer!r} came for {arch} and {other}; wanted is True or False."
            if answer != same:
                told = "the same" if answer else "different"
                return f"Not yet: the code for {arch} and {other} is not {told}. Did you compare instructions?"
    return f"Right for {len(texts) * (len(pairs) + 1)} pairs of architectures."


def instructions(kernel: str | Path, arch: str = "sm_90", compiler: str = "nvrtc") -> list[str]:
    """Return a kernel's machine code, disassembled: a string for each instruction. `kernel` is a text or a file."""
    return list(_instructions(kernel if isinstance(kernel, str) else kernel.read_text(), arch, compiler))


@functools.cache  # the judge and a learner's function ask for the same
def _instructions(text: str, arch: str, compiler: str) -> tuple[str, ...]:
    cubin = building.build(text, compiler, arch=arch).code
    return tuple(str(line) for line in sass.parse(sass.disassemble(cubin)))
