"""What lesson 02 tries with a kernel's text: variants in a sweep, compiler options, and changes that CuPy's cache sees.

The sweep and the builds need a GPU, the options need NVRTC, and the judges of the lesson's exercises need neither.
"""

import io
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

import numpy as np

from fourways import building, checking, fresh_process, host, kernels, measuring, toolchain
from fourways.tables import Row, Table, summary

ANSWER = '#include "answer.h"\nextern "C" __global__ void answer(float *y) { *y = ANSWER; }\n'
"""The kernel of `CacheTrial`: its answer stands in a header."""
_PROCESS = """
import json, sys, time
task = json.load(sys.stdin)
marks = [time.perf_counter()]
import cupy as cp, numpy as np
marks.append(time.perf_counter())
y = cp.zeros(1, np.float32)  # the first array creates the context
marks.append(time.perf_counter())
kernel = cp.RawModule(code=task["code"], options=tuple(task["options"])).get_function("answer")
marks.append(time.perf_counter())
kernel((1,), (1,), (y,))
answer = int(y[0])
marks.append(time.perf_counter())
print(json.dumps({"answer": answer, "stages": [later - earlier for earlier, later in zip(marks, marks[1:])]}))
"""
_CARELESS = """
import cupy as cp
text = '''extern "C" __global__ void copy(const float *x, float *y)
{
    ((float4 *)y)[threadIdx.x] = ((const float4 *)x)[threadIdx.x];
}'''
kernel = cp.RawKernel(text, "copy")
x, y = cp.arange(9, dtype=cp.float32), cp.zeros(8, cp.float32)
kernel((1,), (2,), (x[:8], y))
print("x[:8]:", y, flush=True)
kernel((1,), (2,), (x[1:], y))
print("x[1:]:", y)
"""
_STAGES = ("import", "context", "build", "launch")


def sweep(text: str, vectors: Iterable[int] = (1,), threads: Iterable[int] = (64, 128, 256, 512, 1024)) -> Table:
    """Time saxpy, compiled from `text`, for each number of floats a thread and of threads a block (device clock).

    `-DVECTOR=` sets the floats a thread. The variants take turns, the fastest comes first, and the device copy of as
    many bytes is the last row. Raises AssertionError if a variant's answer is wrong.
    """
    import cupy as cp

    size = measuring.gpu_size(bytes_per_element=12, most=2**28)
    x, y, z = (cp.full(size, value, cp.float32) for value in (0.5, 1, 0))

    def variant(vector: int, block: int) -> Callable[[], None]:
        kernel = cp.RawModule(code=text, options=(f"-DVECTOR={vector}",)).get_function("saxpy")
        blocks = -(-size // (vector * block))  # rounded up
        return lambda: kernel((blocks,), (block,), (np.float32(2.5), x, y, z, np.int64(size)))

    shapes = [(vector, block) for vector in vectors for block in threads]
    calls = {f"VECTOR={vector}, {block} threads a block": variant(vector, block) for vector, block in shapes}
    measuring.require_right(calls, z, lambda: (z == 2.25).all())
    timed = measuring.time_calls(calls, moved=x.nbytes + y.nbytes + z.nbytes).rows
    rows = [_variant_row(row, size, shape) for row, shape in zip(timed, shapes, strict=False)]
    rows.sort(key=lambda row: row["seconds"]["median"])
    copy = {key: timed[-1][key] for key in ("clock", "seconds", "bytes_per_second")}
    rows.append({"VECTOR": "copy"} | copy | {"of_the_copy": 1.0})
    shown = ["VECTOR", "threads_a_block", "clock", "seconds", "bytes_per_second", "of_the_copy", "blocks_a_µs"]
    return Table("saxpy_sweep", rows, shown, note=f"{size:,} elements; the fastest first, then the device copy.")


def _variant_row(row: Row, size: int, shape: tuple[int, int]) -> Row:
    vector, block = shape
    blocks = size / (vector * block) / row["seconds"]["median"] * 1e-6
    times = {key: row[key] for key in ("clock", "seconds", "bytes_per_second")}
    return {"VECTOR": vector, "threads_a_block": block} | times | {"of_the_copy": row["share"], "blocks_a_µs": blocks}


def compiled(text: str, *options: str) -> Row:
    """Return what NVRTC makes of a kernel for sm_90: its PTX's loads and float arithmetic, registers, and size."""
    ptx = building.build(text, output="ptx", options=options).code.decode()
    cubin = building.build(text, options=options)
    return {
        "options": " ".join(options) or "none",
        "loads": sorted({name.removeprefix("ld.") for name in re.findall(r"ld\.global[.\w]*", ptx)}),
        "arithmetic": sorted(set(re.findall(r"(?:fma|add|mul)[.\w]*f32", ptx))),
        "instructions": len(re.findall(r"^\t(?:@\S+ )?[a-z][^;]*;", ptx, re.MULTILINE)),
        "registers": cubin.registers,
        "bytes_of_cubin": len(cubin.code),
    }


def options_table(text: str, tried: Sequence[str]) -> Table:
    """Return a row of `compiled` for each string of options; NVRTC compiles, so no GPU is needed."""
    return Table("options", [compiled(text, *options.split()) for options in tried])


class CacheTrial:
    """Fresh processes that compile `ANSWER` with CuPy and share a cache folder, which is empty at first.

    `header` is the file `answer.h`; it defines ANSWER as 1 until the reader of the lesson writes something else.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="fourways-")  # gone with this object
        folder = Path(self._folder.name)
        self.header, self._cache, self._rows = folder / "answer.h", folder / "cache", list[Row]()
        self._cache.mkdir()
        self.header.write_text("#define ANSWER 1\n")
        self._variables = {"CUPY_CACHE_DIR": str(self._cache), "CUDA_CACHE_PATH": str(folder / "driver")}

    def run(self, change: str, comment: str = "", options: Sequence[str] = ()) -> None:
        """Run one fresh process, and note its answer, the files in the cache, and the time of each stage.

        Raises RuntimeError with the process's error if it fails.
        """
        task = {"code": ANSWER + comment, "options": [f"-I{self.header.parent}", *options]}
        variables = toolchain.child_environment() | self._variables
        told = fresh_process.answer(_PROCESS, task=task, environment=variables)
        files = len(list(self._cache.iterdir()))
        row: Row = {"what_changed": change, "answer": told["answer"], "files_in_the_cache": files}
        row |= {f"{stage}_seconds": seconds for stage, seconds in zip(_STAGES, told["stages"], strict=True)}
        self._rows.append(row | {"clock": "host"})

    def table(self) -> Table:
        """Return a row for each run."""
        return Table("cupy_cache", self._rows, note="One process a row.")


def copy_without_a_look() -> str:
    """Return what a fresh process prints that copies `x[:8]`, then `x[1:]`, by wide loads, and its error, if any."""
    words, variables = [sys.executable, "-P", "-c", _CARELESS], toolchain.child_environment()
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=variables)
    errors = [line for line in done.stderr.splitlines() if "misaligned" in line]
    return done.stdout + "".join(errors[:1])


def builds(text: str) -> Table:
    """Time CuPy's build of saxpy, under names that no cache has seen (host clock, five builds a row).

    In one row the options are the same each time, in the other each build has an option that CuPy has never met.
    """
    import cupy as cp

    def seconds(*options: str) -> float:
        name = f"saxpy_{time.time_ns()}"
        module = cp.RawModule(code=f"#define saxpy {name}\n{text}", options=("-DVECTOR=4", *options))
        start = time.perf_counter()
        module.get_function(name)
        return time.perf_counter() - start

    seconds()  # from now on CuPy has met -DVECTOR=4
    samples = measuring.sampled({"the same": seconds, "new": lambda: seconds(f"-DUNUSED={time.time_ns()}")}, 5)
    rows = [{"options": name, "clock": "host", "seconds": summary(times)} for name, times in samples.items()]
    return Table("saxpy_builds", rows)


def check_axpby(text: str, make_inputs: Callable[[int], tuple]) -> bool:
    """Judge the text of a kernel `axpby(a, x, y, z, n)`, where the macro `B` is the factor of y, 1 by default.

    It is tried by the host way without an option, with `-DB=3`, and with a random factor. `make_inputs(size)` returns
    a, x and y. Prints a line for each, and returns whether all are right.
    """
    if not isinstance(text, str) or "axpby" not in kernels.parameters(text):
        print("Not yet: the text has no kernel `axpby`.")
        return False
    return all(_is_right(text, factor, make_inputs) for factor in (1, 3, random.randrange(4, 1000)))


def _is_right(text: str, factor: int, make_inputs: Callable[[int], tuple]) -> bool:
    options = () if factor == 1 else (f"-DB={factor}",)
    try:
        kernel = host.compile(text, options=options).get_function("axpby")
    except (host.CompileError, host.KernelError) as error:
        print(checking.not_yet(error))
        return False

    def launch(a: Any, x: Any, y: Any, z: Any) -> None:
        kernel((max(1, (x.size + 255) // 256),), (256,), (a, x, y, z, np.int64(x.size)))

    said = io.StringIO()
    with redirect_stdout(said):
        is_right = checking.exercise(launch, make_inputs, lambda a, x, y: a * x + factor * y, rtol=1e-5, launches=1)
    print(said.getvalue().rstrip(), f"({' '.join(options) or 'no option'})")
    return is_right


def check_header_option(function: Any) -> str:
    """Return "Right …", or what is wrong first with a learner's `function(headers)`, which makes an option of CuPy.

    `headers` is a list of paths. The option must change with every edit of any header, and with nothing else. It is
    tried on one and on three headers: edits of any line, some of the same length or with the same characters, text that
    moves to the next header, headers that change places, and another date of a file. `hash` is refused: it gives a text
    another number in each process.
    """
    code = getattr(function, "__code__", None)
    if code and "hash" in _names(code):
        return "Not yet: `hash` gives a text another number in each process, and CuPy would compile in each."
    with TemporaryDirectory(prefix="fourways-") as folder:

        def option(*texts: str) -> Any:
            headers = [Path(folder, f"{number}.h") for number in range(len(texts))]
            for header, text in zip(headers, texts, strict=True):
                header.write_text(text, encoding="utf-8")
            return function(headers)

        long = "// a line of a comment\n" * 40
        alone = [f"{long}#define A 1\n#define B 23\n"]
        for start in (alone, [f"{long}#define {name} 1\n#define {name}2 23\n" for name in "ABC"]):
            first = option(*start)
            if not isinstance(first, str) or not re.fullmatch(r"-D[A-Za-z_]\w*(=\w+)?", first):
                return f"Not yet: {first!r} came; wanted is one str that defines a macro, such as '-DNAME=0x1f'."
            for number, text in enumerate(start):
                top = text.replace("a line", "1 line", 1)
                for edited in (text + "#define D 4\n", text.replace(" 1", " 7"), text.replace("23", "32"), top):
                    if option(*start[:number], edited, *start[number + 1 :]) == first:
                        lines = zip_longest(text.splitlines(), edited.splitlines(), fillvalue="")
                        was, now = next((was, now) for was, now in lines if was != now)
                        changed = f"header {number + 1} of {len(start)} is edited"
                        return f"Not yet: {changed}, its line {was!r} is {now!r} now, and the option is as before."
            option(*start)
            os.utime(Path(folder, "0.h"), (1, 1))
            if function([Path(folder, f"{number}.h") for number in range(len(start))]) != first:
                return "Not yet: nobody edited a header, only a file's date is another, and CuPy would compile again."
        if option(start[0] + start[1], "", start[2]) == first:
            return "Not yet: two lines moved from the second header to the first, and the option stayed the same."
        if option(start[1], start[0], start[2]) == first:
            return "Not yet: the first two headers changed places, and the option stayed the same."
    return "Right: the option changes with each header's contents, and with nothing else."


def _names(code: CodeType) -> set[str]:
    """Return the names that a function's code and the functions inside it use."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))
