"""What lesson 12 and its page build and measure: one launcher under several bindings, and the time of imports.

Building needs nvcc and a C++ compiler, but no GPU, and so do the judges of the lesson's exercises.
"""

import ctypes
import itertools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import checking, kernels, lesson, process, toolchain
from fourways.tables import RANGE, Row, Table, seconds, summary
from fourways.timing import rounds, turns
from fourways.ways import Ways

_FPIC = "-Xcompiler=-fPIC"  # position-independent code, as shared libraries need
_IMPORT = """
import time
begin = time.perf_counter()
%s
print('{"seconds":', time.perf_counter() - begin, "}")
"""
_ON_CPU = r"""
extern "C" const char *launch_doublify(const float *x, float *y, long long n, void *stream)
{
    if (n < 0) return "n is negative";
    if (stream) return "this function has no streams";
    for (long long i = 0; i < n; ++i) y[i] = 2 * x[i];
    return nullptr;
}
"""


class Workbench:
    """An empty folder below build/, from which Python can import, and the compilers' command lines.

    `built` holds the seconds of each build, and `files` its file, by the name of the module.
    """

    def __init__(self, name: str) -> None:
        self.folder = kernels.root() / "build" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        sys.path.insert(0, str(self.folder))
        self.built: dict[str, float] = {}
        self.files: dict[str, Path] = {}
        self._launcher_seconds = 0.0

    def run(self, *command: object) -> float:
        """Run a command in the folder, and return its seconds. Raises RuntimeError with its output if it fails."""
        start = time.perf_counter()
        done = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return time.perf_counter() - start

    def launcher(self, text: str) -> None:
        """Compile the text launcher.cu to launcher.o for this machine's GPU (sm_90 without one); print the seconds."""
        (self.folder / "launcher.cu").write_text(text)
        arch = next((gpu.arch for gpu in toolchain.gpus()), "sm_90")
        kernel_folder = f"-I{kernels.path('doublify').parent}"
        self._launcher_seconds = self.run(toolchain.nvcc(), "-c", f"-arch={arch}", _FPIC, kernel_folder, "launcher.cu")
        print(f"launcher.o: {seconds(self._launcher_seconds)}")

    def link(self, module: str, file: str, units: Iterable[object], words: Iterable[object] = ()) -> None:
        """Compile `units`, and link them with launcher.o and the CUDA runtime into `file`; print the seconds."""
        shared = (toolchain.nvcc(), "-shared", "-O2", "-std=c++17", _FPIC)
        took = self.run(*shared, *units, "launcher.o", *words, "-o", file)  # the linker reads from left to right
        self.built[module], self.files[module] = self._launcher_seconds + took, self.folder / file
        print(f"{file}: {seconds(took)}")

    def nanobind(self, module: str, text: str) -> None:
        """Build a nanobind module of a C++ text, for the stable ABI from Python 3.12 on; print the seconds."""
        import nanobind

        (self.folder / f"{module}.cpp").write_text(text)
        home, stable = Path(nanobind.include_dir()).parent, sys.version_info >= (3, 12)
        words = ["--threads=2", "-DNDEBUG", "-Xcompiler=-fvisibility=hidden,-fno-strict-aliasing"]
        words += ["-DPy_LIMITED_API=0x030C0000"] if stable else []
        words += [f"-I{path}" for path in (home / "include", home / "ext/robin_map/include", _python())]
        file = module + (".abi3.so" if stable else _suffix())
        self.link(module, file, (home / "src/nb_combined.cpp", f"{module}.cpp"), words)

    def tvm_ffi(self, module: str, text: str) -> None:
        """Build a library of a C++ text that exports its functions by tvm-ffi; print the seconds."""
        (self.folder / f"{module}.cpp").write_text(text)
        home = Path(str(toolchain.installed("tvm_ffi"))).parent
        words = (f"-I{home / 'include'}", f"-L{home / 'lib'}", "-ltvm_ffi")
        self.link(module, f"{module}.so", (f"{module}.cpp",), words)

    def cython(self, module: str, text: str) -> None:
        """Translate a Cython text to C++, and build it as a module of this version of Python; print the seconds."""
        (self.folder / f"{module}.pyx").write_text(text)
        translated = self.run(sys.executable, "-m", "cython", "-3", "--cplus", f"{module}.pyx")
        print(f"{module}.cpp: {seconds(translated)}")
        self.link(module, module + _suffix(), (f"{module}.cpp",), (f"-I{_python()}",))
        self.built[module] += translated

    def operator(self, module: str, text: str) -> None:
        """Build a library of PyTorch operators, for the stable ABI from PyTorch 2.10 on; print the seconds."""
        from torch.utils import cpp_extension

        (self.folder / f"{module}.cpp").write_text(text)
        words = ["-DUSE_CUDA", "-DTORCH_TARGET_VERSION=0x020a000000000000"]
        words += [f"-I{path}" for path in cpp_extension.include_paths()]
        words += [f"-L{path}" for path in cpp_extension.library_paths()]
        # a C++ library in the module must not share its tables with PyTorch's (issue 109923 of PyTorch)
        words += ["-ltorch_cpu", "-ltorch_cuda", "-Xlinker=--exclude-libs=ALL"]
        self.link(module, f"{module}.so", (f"{module}.cpp",), words)

    def ready_for_load_inline(self) -> None:
        """Let PyTorch find ninja, the C++ compiler, and in this folder a libcudart.so, which CUDA's wheels lack."""
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        os.environ.setdefault("CXX", str(toolchain.host_compiler()))
        runtime = toolchain.in_roots("lib64/libcudart.so*", "lib/libcudart.so*")[0]
        (self.folder / "libcudart.so").symlink_to(runtime)
        (self.folder / "inline").mkdir()

    def table(self) -> Table:
        """Show the built libraries: their size, and how many names of Python's C API they ask for.

        The first row is the launcher with CUDA's runtime alone.
        """
        self.run(toolchain.nvcc(), "-shared", "launcher.o", "-o", "launcher.so")
        rows: list[Row] = []
        for file in (self.folder / "launcher.so", *self.files.values()):
            names = toolchain.run("nm", "-D", "--undefined-only", str(file)).stdout
            python = len(re.findall(r" U _?Py", names))
            rows.append({"file": file.name, "bytes": file.stat().st_size, "python_names": python})
        size = ("kB", lambda row: f"{row['bytes'] / 1e3:,.0f}")
        return Table("files", rows, ["file", size, ("names of Python", lambda row: str(row["python_names"]))])


def _python() -> str:
    return sysconfig.get_paths()["include"]


def _suffix() -> str:
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def collect(namespace: Mapping[str, Any]) -> Ways:
    """Return all functions `doublify_…` of a notebook as ways: those of `lesson.collect`, and the others behind them.

    The others are checked here. One that fails is under `missing`, with the reason. Functions of ways with `torch` in
    their names get PyTorch's tensors instead of CuPy's arrays.
    """
    ways = lesson.collect(namespace)
    for name, function in list(namespace.items()):
        way = name.removeprefix("doublify_")
        if way == name or way in ways.functions:
            continue
        ways.functions[way] = _on_tensors(function) if "torch" in way else function
        try:
            checking.check(ways.only([way]))
        except checking.CheckFailure as failure:
            ways.missing[way] = str(failure)
    return ways


def _on_tensors(function: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    from torch import from_dlpack

    return lambda x, y: function(from_dlpack(x), from_dlpack(y))


def imports(statements: Mapping[str, str], times: int | None = None, at_once: int = 4) -> Table:
    """Time import statements (host clock), each in `times` fresh processes, of which `at_once` run at a time.

    By default, there are 21 processes while a lesson is recorded, and a third of that elsewhere.
    The statements take turns, after one process each that is not counted. Rows are in the order of their medians. Two
    neighbours have the same rank if the slower one's p10 is not above the faster one's p90. A statement that fails is
    left out; the note names it.
    """
    variables = toolchain.child_environment()
    times = rounds(21) if times is None else times

    def one(name: str) -> tuple[str, float | None]:
        ended = process.run(_IMPORT % statements[name], {}, variables)
        return name, None if ended.status else ended.answer["seconds"]

    with ThreadPoolExecutor(at_once) as pool:
        here = [name for name, took in pool.map(one, statements) if took is not None]
        samples: dict[str, list[float]] = {name: [] for name in here}
        for name, took in pool.map(one, turns(times, here)):
            samples[name] += [] if took is None else [took]
    rows: list[Row] = [{"way": name, "clock": "host", "seconds": summary(took)} for name, took in samples.items()]
    rows.sort(key=lambda row: row["seconds"]["median"])
    for place, row in enumerate(rows):
        above = rows[place - 1] if place else None
        is_near = above and row["seconds"]["p10"] <= above["seconds"]["p90"]
        row["rank"] = above["rank"] if above and is_near else place + 1
    absent = [name for name in statements if name not in here]
    note = f"Host clock; {times} fresh processes each, {at_once} at a time."
    note += f" Not importable here: {', '.join(absent)}." if absent else ""
    return Table("imports", rows, [("import", "way"), ("median", "seconds"), RANGE, "rank"], note)


def check_declared(declare: Callable[[Any], Any]) -> str:
    """Judge `declare(function)`, which tells ctypes the types of `launch_doublify(x, y, n, stream)`.

    The function works on the CPU. It is called with random arrays, with a negative n, and with a stream, for both of
    which it returns a message.
    """
    with TemporaryDirectory() as folder:
        source, library = Path(folder, "on_cpu.cpp"), Path(folder, "on_cpu.so")
        source.write_text(_ON_CPU)
        compiler = toolchain.host_compiler()
        subprocess.run([str(compiler), "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        function = ctypes.CDLL(str(library)).launch_doublify
        try:
            declare(function)
            kinds = list(function.argtypes or ())
            return _undeclared(kinds, function) or _called(function)
        except Exception as error:
            return checking.not_yet(error)


def _undeclared(kinds: list[Any], function: Any) -> str | None:
    """Return what is wrong with the declared types, so that calling the function would not be safe; or None."""
    if not kinds:
        return (
            "Not yet: nothing is declared, neither the types of the arguments nor that of the result."
            if function.restype is ctypes.c_int
            else "Not yet: without argtypes a Python integer becomes an int of 32 bits, which holds no address."
        )
    if len(kinds) != 4:
        return f"Not yet: argtypes has {len(kinds)} types, and the function has four parameters."
    if function.restype is not None and not hasattr(function.restype, "from_param"):  # no type of ctypes
        return "Not yet: a Python function as restype gets an int of 32 bits, which is half of the text's address."
    if function.errcheck:
        return "Not yet: errcheck changes the results. Declare types only; the judge wants the text itself."
    if getattr(function.restype, "_type_", None) == "O":
        return "Not yet: the result is declared as py_object, and the function makes no Python object."
    for name, kind in zip(("x", "y", "n", "the stream"), kinds, strict=True):
        if hasattr(kind, "contents") or getattr(kind, "_type_", None) in ("z", "Z", "O"):  # reading these would crash
            return f"Not yet: {kind.__name__} takes no integer, and the judge passes {name} as a Python integer."
    for name, kind in zip(("x", "y", "the stream"), (kinds[0], kinds[1], kinds[3]), strict=True):
        if ctypes.sizeof(kind) != 8 or kind(2**63 + 8).value % 2**64 != 2**63 + 8:  # the sign of an int does not matter
            return f"Not yet: {kind.__name__} cannot hold {name}, an address of 64 bits."
    count = kinds[2]
    if getattr(count, "_type_", None) in ("f", "d", "g"):
        return f"Not yet: {count.__name__} is passed as a floating-point number, and n is an integer."
    if ctypes.sizeof(count) != 8 or count(2**40).value != 2**40:
        return f"Not yet: {count.__name__} cannot hold an n of 2**40."
    if count(-1).value != -1:
        return f"Not yet: {count.__name__} makes {count(-1).value} of -1, and a long long has a sign."
    return None


def _called(function: Any) -> str:
    """Call the declared function, and return what is wrong with its answers, or that they are right."""
    for size in np.random.default_rng().integers(1, 10_000, 3):
        x, y = np.random.default_rng().random(size, np.float32), np.full(size, np.nan, np.float32)
        told = function(x.ctypes.data, y.ctypes.data, x.size, 0)
        if told is not None:
            kind = getattr(function.restype, "__name__", function.restype)
            return f"Not yet: a call without an error returned {told!r}; the result is declared as {kind}."
        if not (y == 2 * x).all():
            return f"Not yet: the function did not double {size} numbers."
    messages = {b"n is negative": (0, 0, -1, 0), b"this function has no streams": (0, 0, 0, 64)}
    for message, arguments in messages.items():
        told = function(*arguments)
        if told != message:
            return f"Not yet: a call that must fail returned {told!r}, and its message is lost."
    return "Right: three random arrays were doubled, and two errors came back as text."


def check_refusals(refuse: Callable[[Any, Any], Any]) -> str:
    """Judge `refuse(x, y)`: does it raise TypeError or ValueError for arrays that a kernel cannot take, and only then?

    The arrays only say what arrays of a GPU would say. Their shapes are random.
    """
    number = np.random.default_rng()
    for dimensions in (2, 1, 3):
        shape = tuple(map(int, number.integers(3, 9, dimensions)))
        for what, (x, y, wanted) in _cases(shape).items():
            try:
                refuse(x, y)
                raised = None
            except Exception as error:
                raised = type(error)
            if not (issubclass(raised, wanted) if raised and wanted else raised is wanted):
                became = f"raises {raised.__name__}" if raised else "passes"
                want = f"should raise {wanted.__name__}" if wanted else "should pass"
                return f"Not yet: {what} {became}, and {want} (shape {shape})."
    return "Right: every call was let through or refused as it should be, with arrays of one, two and three dimensions."


def _cases(shape: tuple[int, ...]) -> dict[str, tuple[Any, Any, type[Exception] | None]]:
    """Return pairs of arrays by name, each with the exception that they deserve. No two arrays overlap."""
    addresses = itertools.count(2**20, 2**20)

    def told(array: Any, read_only: bool = False, explicit: bool = False, **changes: Any) -> Any:
        strides = None if array.flags.c_contiguous and not explicit else array.strides
        about = {"shape": array.shape, "typestr": array.dtype.str, "strides": strides, "version": 3}
        return SimpleNamespace(__cuda_array_interface__=about | {"data": (next(addresses), read_only)} | changes)

    plain = np.zeros(shape, np.float32)
    wide = np.zeros((*shape[:-1], 2 * shape[-1]), np.float32)[..., ::2]
    fine, bare, written = told(plain), told(plain), told(plain, explicit=True)
    del bare.__cuda_array_interface__["strides"]  # as the protocol allows
    one_number = np.broadcast_to(np.float32(1), shape)  # its strides are 0
    cases: dict[str, tuple[Any, Any, type[Exception] | None]] = {"two arrays without gaps": (fine, told(plain), None)}

    def either(what: str, array: Any, wanted: type[Exception] | None) -> None:
        cases.update({f"x {what}": (array, fine, wanted), f"y {what}": (fine, array, wanted)})

    either("in the CPU's memory", plain, TypeError)
    either("of float64", told(plain.astype("f8")), TypeError)
    either("of int32", told(plain.astype("i4")), TypeError)
    either("of float32 in the other byte order", told(plain.astype(plain.dtype.newbyteorder())), TypeError)
    either("with gaps", told(wide), ValueError)
    either("with written-out strides, and no gaps", written, None)
    cases |= {
        "y with gaps, while the strides of x are written out": (written, told(wide), ValueError),
        "x with gaps, while the strides of y are written out": (told(wide), written, ValueError),
        "x that runs backwards": (told(plain[..., ::-1]), fine, ValueError),
        "x that repeats one number (strides of 0)": (told(one_number), fine, ValueError),
    }
    either("without the entry strides", bare, None)
    cases |= {
        "y of another shape": (fine, told(np.zeros((*shape[:-1], shape[-1] + 1), np.float32)), ValueError),
        "y of another shape and the same size": (fine, told(plain.reshape(1, *shape)), ValueError),
        "y that is read-only": (fine, told(plain, read_only=True), ValueError),
        "x that is read-only": (told(plain, read_only=True), fine, None),
    }
    if len(shape) > 1:
        either("in Fortran's order", told(np.zeros(shape, np.float32, order="F")), ValueError)
        rows = np.zeros((2 * shape[0], *shape[1:]), np.float32)[::2]
        cases["x that is every other row of an array"] = (told(rows), fine, ValueError)
        cases["x whose first axis runs backwards"] = (told(plain[::-1]), fine, ValueError)
        padded = np.zeros((*shape[:-1], shape[-1] + 4), np.float32)[..., : shape[-1]]
        either("with gaps between its rows only", told(padded), ValueError)
    if len(shape) > 2:
        exchanged = np.zeros((*shape[:-2], shape[-1], shape[-2]), np.float32).swapaxes(-1, -2)
        cases["x with its last two axes exchanged"] = (told(exchanged), fine, ValueError)
    return cases
