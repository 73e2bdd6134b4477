"""The process that a profiler looks at, with CuPy's own compilers and a stand-in for the GPU; a script plays ncu."""

import sys
from pathlib import Path

import pytest

from fourways import lesson, nsight, toolchain

STORED = Path(__file__).parents[1] / "data" / "doublify.ncu-rep"

LESSON = """---
fourways: {kernel: mine, ways: [nvrtc, nvcc], without: {}}
---

# A lesson

```{code-cell} python
:tags: [setup]
import no_gpu
import cupy
import numpy as np
from cupy.cuda import compiler

source = 'extern "C" __global__ void mine(float *x) { x[threadIdx.x] += 1.f; }'

def make_inputs(size):
    return (np.arange(size, dtype=np.float32),)

def reference(x):
    return 2 * x

def mine(x, y):
    no_gpu.log("called")
    y[:] = 2 * x
```

```{code-cell} python
:tags: [way-nvrtc]
options = cupy.RawModule(code=source, options=("-DA",)).options
code, _ = compiler.compile_using_nvrtc(source, options, arch="90", filename="mine.cubin.cu")
no_gpu.keep(code + b"\\0")  # CuPy cuts off the last byte
mine_nvrtc = mine
```

```{code-cell} python
:tags: [way-nvcc]
options = cupy.RawKernel(source, "mine", backend="nvcc").options
no_gpu.keep(compiler.compile_using_nvcc(source, options, arch="90", filename="mine.cubin.cu"))
mine_nvcc = mine
```
"""
NO_GPU = """
import tempfile
from pathlib import Path
from types import SimpleNamespace
import cupy
from cupy.cuda import compiler

HERE = Path(__file__).parent


def log(text):
    with (HERE / "log").open("a") as file:
        print(text, file=file)


def keep(code):
    (HERE / "mine.cubin").write_bytes(code)


compiler._get_arch_for_options_for_nvrtc = lambda arch: ("-arch=sm_90", "cubin")  # it asks the GPU
cupy.asarray = lambda array: array.copy()
cupy.cuda.Device = lambda: SimpleNamespace(synchronize=lambda: None)
cupy.cuda.runtime.free = lambda pointer: None
cupy.cuda.runtime.deviceSynchronize = lambda: None
cupy.cuda.runtime.profilerStart = lambda: log("profiler on")
cupy.cuda.runtime.profilerStop = lambda: log("profiler off")
"""
NCU = f"""#!{sys.executable}
import pathlib, shutil, subprocess, sys
words, here = sys.argv[1:], pathlib.Path(__file__).parent
shutil.copy({str(STORED)!r}, words[words.index("--export") + 1])
code = subprocess.run(words[words.index(sys.executable) :]).returncode
(sources,) = [word.removeprefix("--sources=") for word in words if word.startswith("--sources=")]
shutil.copytree(sources, here / "kept")
(here / "sources").write_text(sources)
sys.exit(code)
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one lesson, on a machine that seems to have a GPU, and an ncu that just runs the program."""
    contents = {"lessons/05_mine.md": LESSON, "cpp/kernels/mine.cuh": "", "no_gpu.py": NO_GPU, "ncu": NCU}
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda way: None)
    found = toolchain.program
    monkeypatch.setattr(toolchain, "program", lambda name: tmp_path / "ncu" if name == "ncu" else found(name))
    return tmp_path


@pytest.mark.parametrize("way", ["nvrtc", "nvcc"])
def test_the_source_that_line_information_names_is_there(way: str, clone: Path) -> None:
    """The path in the machine code leads to the text that was compiled, where ncu can still read it."""
    nsight.profile("5", way, 100)
    disassembler = toolchain.program("nvdisasm")
    assert disassembler
    text = toolchain.run(str(disassembler), "-g", "-c", str(clone / "mine.cubin")).stdout
    (named,) = {line.split('"')[1] for line in text.splitlines() if "## File" in line}
    kept = clone / "kept" / Path(named).relative_to((clone / "sources").read_text())
    assert "x[threadIdx.x] += 1.f" in kept.read_text()


def test_the_last_call_is_the_profiled_one(clone: Path) -> None:
    nsight.profile("5", "nvrtc", 100)
    calls = (clone / "log").read_text().splitlines()
    assert calls[-3:] == ["profiler on", "called", "profiler off"] and calls.count("profiler on") == 1
    assert calls[:-3].count("called") >= 2, "all is warm, and checked"


def test_a_wrong_answer_is_not_profiled(clone: Path) -> None:
    path = lesson.find("5").path
    path.write_text(LESSON.replace("y[:] = 2 * x", "y[1:] = 2 * x[1:]"))
    with pytest.raises(nsight.ProfilingError) as told:  # though there is a report
        nsight.profile("5", "nvrtc", 100)
    wrong, advice = str(told.value).split("\n")
    assert wrong.startswith("mine_nvrtc, size 100: element 0 is nan (never written")
    assert wrong.endswith("; a wrong answer is not profiled")
    assert advice.endswith("because the way itself failed; `fourways check 5` shows more.")
    assert "profiler on" not in (clone / "log").read_text()


def test_a_way_that_fails_says_why_without_a_traceback(clone: Path) -> None:
    path = lesson.find("5").path
    path.write_text(LESSON.replace("y[:] = 2 * x", "raise OSError('no such luck')"))
    with pytest.raises(nsight.ProfilingError, match="^OSError: no such luck\nNothing was profiled"):
        nsight.profile("5", "nvrtc", 100)
