"""What lesson 08 does with units of a program: link them in three forms, look at the machine code, time, draw, judge.

Compiling, linking and the judges need no GPU and no driver. A unit is a text that is compiled by itself; a program is
the `ObjectCode` of a linked cubin.
"""

import functools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import building, checking, figures, host, kernels, linking, sass, timing, toolchain
from fourways.tables import Column, Row, Table, summary

FORMS = {
    "ptx": {"relocatable_device_code": True},
    "cubin": {"relocatable_device_code": True},  # machine code
    "ltoir": {"link_time_optimization": True},
}
"""The three forms of a unit for a linker, with the options by which `cuda.core` compiles it."""
DECLARATION = 'extern "C" __device__ float user_transform(float x);\n'
"""What the library's kernel `apply_transform` expects of a plug-in."""
WINDOWS = {"Mandelbrot": (-2.35, 1.15, 3.45), "Julia": (-1.65, 1.1, 3.3), "Burning Ship": (-1.81, 0.083, 0.14)}
"""Left, top and width of the part of the complex plane that a fractal's picture shows."""
STEPS = 256
"""The most steps that `escape_time` takes; a point with so many has not escaped."""
_TIMEOUT = 10  # seconds
_WHOLE = {"compiled": 0}
"""How many times `one_source` was called, by which `check_front_door` notices a program that was not linked."""


def arch() -> str:
    """Return the architecture of the first GPU, else "sm_90"."""
    gpus = toolchain.gpus()
    return gpus[0].arch if gpus else "sm_90"


def compiled(text: str, form: str, target: str | None = None, **more: Any) -> Any:
    """Return a unit, compiled with -DPLUGIN to one of `FORMS` for the architecture `target`, as an `ObjectCode`.

    `more` are further options of `cuda.core.ProgramOptions`. Caches are off. Raises the compiler's errors.
    """
    from cuda.core import Program, ProgramOptions

    if form == "ptx" and not toolchain.driver():
        return _ptx_without_driver(text)
    options = ProgramOptions(arch=target or arch(), define_macro="PLUGIN", no_cache=True, **FORMS[form], **more)
    return Program(text, "c++", options).compile(form)


def _ptx_without_driver(text: str) -> Any:
    """Compile by NVRTC itself, because `cuda.core` asks the driver before it makes PTX."""
    from cuda.core import ObjectCode

    with TemporaryDirectory() as folder:
        file = Path(folder, "unit.cu")
        file.write_text(text)
        return ObjectCode.from_ptx(building.build(file, "nvrtc", arch(), "ptx", ("-rdc=true", "-DPLUGIN")).code)


def linked(*units: Any) -> Any:
    """Link units by nvJitLink, with link-time optimization if one of them is LTO-IR, and return the program.

    Raises the linker's errors.
    """
    from cuda.core import Linker

    return Linker(*units, options=_link_options(any(unit.code_type in ("ltoir", "library") for unit in units))).link(
        "cubin"
    )


def _link_options(lto: bool) -> Any:
    from cuda.core import LinkerOptions

    return LinkerOptions(arch=arch(), link_time_optimization=lto, no_cache=True)


def link_log(*units: Any) -> str:
    """Link units with link-time optimization, and return the first line of what the linker has in its error log."""
    from cuda.core import Linker

    linker = Linker(*units, options=_link_options(True))
    linker.link("cubin")  # does not fail
    return (linker.get_error_log().strip("\n\0").splitlines() or ["nothing"])[0]


def one_source(library: str, plugin: str, **more: Any) -> Any:
    """Compile a library's text and a plug-in's as one text, without a linker, and return the program."""
    from cuda.core import Program, ProgramOptions

    _WHOLE["compiled"] += 1
    options = ProgramOptions(arch=arch(), define_macro="PLUGIN", no_cache=True, **more)
    return Program(plugin + library, "c++", options).compile("cubin")


@functools.cache
def _parsed(cubin: bytes) -> list[Any]:
    return sass.parse(sass.disassemble(cubin))


def listing(program: Any, entry: str = "apply_transform") -> list[Any]:
    """Return the instructions of a program's function, in order."""
    return [line for line in _parsed(program.code) if line.entry == entry]


def calls_left(program: Any, entry: str = "apply_transform") -> int:
    """Return how many calls of the program's own functions stand in the machine code of a kernel."""
    calls: int = linking.look_inside(program.code, entry)["calls"]
    return calls


def differing(program: Any, other: Any) -> int:
    """Return how many lines of `apply_transform` differ between two programs, with registers renamed.

    A line that only one of the two has differs, too.
    """
    return sass.diff(listing(program), listing(other), rename=True).differences


def look(programs: Mapping[str, Any], whole: Any) -> Table:
    """Count calls and multiply-adds in the kernel of each program, and lines that differ from the program `whole`."""
    rows: list[Row] = []
    for name, program in programs.items():
        lines = listing(program)
        rows.append(
            {
                "linked_from": name,
                "calls": calls_left(program),
                "multiply_adds": sum(line.base == "FFMA" for line in lines),
                "other_functions": sorted({line.entry for line in _parsed(program.code)} - {"apply_transform"}),
                "lines_that_differ": differing(whole, program),
                "cubin_bytes": len(program.code),
            }
        )
    note = f"For {arch()}. Compiled as one text, the kernel has {len(listing(whole))} lines."
    return Table("looked_inside", rows, note=note)


def _launcher(kernel: Any, grid: Any, block: Any) -> Callable[..., None]:
    from cuda.core import LEGACY_DEFAULT_STREAM, LaunchConfig, launch

    config = LaunchConfig(grid=grid, block=block)
    return lambda *arguments: launch(LEGACY_DEFAULT_STREAM, config, kernel, *arguments)


def runner(program: Any) -> Callable[[Any, Any], None]:
    """Return a function of two arrays on the GPU that launches a program's `apply_transform` by `cuda.core`."""
    from cuda.core import Device

    Device().set_current()
    kernel = program.get_kernel("apply_transform")

    def run(x: Any, y: Any) -> None:
        start = _launcher(kernel, max(1, (x.size + 255) // 256), 256)
        start(x.data.ptr, y.data.ptr, np.int64(x.size))

    return run


def cupy_run(kernel: Any) -> Callable[[Any, Any], None]:
    """Return a function of two arrays on the GPU that launches an `apply_transform` of CuPy's."""
    return lambda x, y: kernel((max(1, -(-x.size // 256)),), (256,), (x, y, np.int64(x.size)))


def pycuda_run(kernel: Any) -> Callable[[Any, Any], None]:
    """Return a function of two arrays on the GPU that launches an `apply_transform` of PyCUDA's."""
    return lambda x, y: kernel(x, y, np.int64(x.size), grid=(max(1, -(-x.size // 256)), 1), block=(256, 1, 1))


def verdict(run: Callable[[Any, Any], None], case: Any, size: int = 1_000_003) -> str:
    """Return "right" or what is wrong with `run(x, y)` on the GPU. `case` has make_inputs, reference and rtol."""
    inputs = case.make_inputs(size)
    return checking.verdict(run, "gpu", inputs, case.reference(*inputs), case.rtol) or "right"


def race(runs: Mapping[str, Callable[[Any, Any], None]], case: Any, name: str = "linked") -> Table:
    """Time each `run(x, y)` on 2²⁶ floats, or as many as the GPU holds (device clock), after a check against `case`.

    Raises AssertionError where an answer is wrong.
    """
    import cupy as cp

    for way, run in runs.items():
        if (told := verdict(run, case)) != "right":
            raise AssertionError(f"{way}: {told}")
    size = timing.gpu_size(bytes_per_element=8, most=2**26)
    x, y = cp.ones(size, cp.float32), cp.empty(size, cp.float32)
    timed = timing.time_calls({way: partial(run, x, y) for way, run in runs.items()}, name=name)
    timed.note = f"{size:,} elements."
    return timed


def attempt(calls: Mapping[str, Callable[[], Any]]) -> None:
    """Call each function, and print its name with the calls left in the program, "loaded", or the error's main line."""
    for name, call in calls.items():
        try:
            made = call()
            print(f"{name}: {f'links, {calls_left(made)} calls left' if hasattr(made, 'code_type') else 'loaded'}")
        except Exception as error:
            print(f"{name}: {main_line(error)}")


def main_line(error: Exception) -> str:
    """Return the line of a linker's, compiler's or driver's error that says what is wrong."""
    text = str(error).strip("\n\0")
    if "error log: " in text:
        log = text.split("error log: ")[-1].splitlines()
        return next(line for line in log if "nvvmCompileProgram" not in line).split("error: ")[-1]
    lines = [line for line in text.splitlines() if "error" in line and "(" in line]
    return lines[-1] if lines else f"{type(error).__name__}: {text.splitlines()[0]}"


def price(library: str, plugin: str) -> Table:
    """Time the compilers and the linker for two libraries, each shipped as source and in the forms (host clock).

    The second library includes a header of CUB that it does not use, and is shipped as source and as LTO-IR only.
    `once` is what the library's author waits for. `seconds` is what a user waits for with each plug-in, of it
    `link_seconds` for the link; `bytes_shipped` are the library's. Each number is the median of five, but with CUB in
    the source both are single samples.
    """
    with_cub = "#include <cub/block/block_reduce.cuh>\n" + library
    rows = [_priced("this one", library, plugin, form, 5) for form in ("one source", *FORMS)]
    rows += [_priced("with CUB", with_cub, plugin, form, 1) for form in ("one source", "ltoir")]
    columns: list[Column] = ["library", "shipped", "once_seconds", ("each plug-in", "seconds")]
    columns += [("of it the link", "link_seconds"), "shipped_bytes", "cubin_bytes"]
    return Table("price", rows, columns, f"For {arch()}, host clock. Each plug-in: compiled and linked.")


def _priced(name: str, library: str, plugin: str, form: str, repeats: int) -> Row:
    headers: dict[str, Any] = {"include_path": [str(folder) for folder in toolchain.include_dirs()]}
    row: Row = {"library": name, "shipped": form, "clock": "host", "once_seconds": None, "link_seconds": None}
    if form == "one source":
        samples = [_clock(lambda: one_source(library, plugin, **headers)) for _ in range(repeats)]
        each, shipped, program = [seconds for _, seconds in samples], len(library.encode()), samples[0][0]
    else:
        more: dict[str, Any] = headers if form != "ptx" else {}
        made = [_clock(lambda: compiled(library, form, **more)) for _ in range(repeats)]
        unit, row["once_seconds"] = made[0][0], summary([seconds for _, seconds in made])
        each, links = [], []
        for _ in range(5):
            user, compiling = _clock(lambda: compiled(plugin, form))
            program, joining = _clock(partial(linked, unit, user))
            each.append(compiling + joining)
            links.append(joining)
        row["link_seconds"], shipped = summary(links), len(unit.code)
    return row | {"seconds": summary(each), "shipped_bytes": shipped, "cubin_bytes": len(program.code)}


def _clock(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _view(name: str, shape: tuple[int, int]) -> tuple[Any, ...]:
    """Return the arguments of `escape_time` behind the picture."""
    left, top, across = WINDOWS[name]
    return (*map(np.int64, shape), *map(np.float32, (left, top, across / shape[1])))


def _drawing(program: Any, name: str, picture: Any) -> Callable[[], None]:
    """Return a function that draws a fractal of `WINDOWS` into a float32 array on the GPU."""
    height, width = picture.shape
    start = _launcher(program.get_kernel("escape_time"), (-(-width // 32), -(-height // 8)), (32, 8))
    return partial(start, picture.data.ptr, *_view(name, picture.shape))


def draw_on_the_cpu(plugin: str, name: str, shape: tuple[int, int] = (320, 480)) -> np.ndarray:
    """Draw a fractal of `WINDOWS` by the host way, with library and plug-in as one text."""
    picture = np.full(shape, np.nan, np.float32)
    _on_the_host(plugin, "escape_time")((15, 40), (32, 8), (picture, *_view(name, shape)))
    return picture


def _on_the_host(plugin: str, kernel: str) -> host.HostKernel:
    module = host.compile(plugin + kernels.source(kernel), options=("-DPLUGIN",), timeout=_TIMEOUT)
    return module.get_function(kernel)


def fractals(steps: Mapping[str, str], pictures: Mapping[str, np.ndarray]) -> Table:
    """Link `escape_time` to each step as PTX and as LTO-IR, and time a picture of 4096 × 6144 pixels (device clock).

    `steps[name]` is the text of the `user_step` of a fractal of `WINDOWS`. `same_pixels` is the share of the pixels of
    `pictures[name]` that the GPU draws alike.
    """
    import cupy as cp
    from cuda.core import Device

    Device().set_current()
    large, source, rows = cp.empty((4096, 6144), cp.float32), kernels.source("escape_time"), list[Row]()
    library = {form: compiled(source, form) for form in ("ptx", "ltoir")}
    for name, step in steps.items():
        row: Row = {"plug_in": name, "clock": "device"}
        for form, unit in library.items():
            program = linked(unit, compiled(step, form))
            row[f"{form}_seconds"] = summary(timing.device_seconds(_drawing(program, name, large)))
        small = cp.full(pictures[name].shape, cp.nan, cp.float32)
        _drawing(program, name, small)()
        same = float(np.mean(small.get() == pictures[name]))
        rows.append(row | {"ratio": row["ptx_seconds"]["median"] / row["ltoir_seconds"]["median"], "same_pixels": same})
    columns: list[Column] = [("plug-in", "plug_in"), ("PTX", "ptx_seconds"), ("LTO-IR", "ltoir_seconds"), "ratio"]
    columns.append(("as on the CPU", lambda row: f"{row['same_pixels']:.1%}"))
    return Table("fractals", rows, columns, f"{large.shape[0]} × {large.shape[1]} pixels.")


def show(pictures: Mapping[str, np.ndarray]) -> Any:
    """Draw pictures of `draw`: the logarithm of the steps, and black for points that never escape."""
    logs = {name: np.where(steps == STEPS, 0, np.log2(2 + steps)) for name, steps in pictures.items()}
    return figures.heat_maps(logs, "One kernel, three plug-ins", "log2(2 + steps until escape), 0 if never")


def build_by_cmake(lists: str, library: str, plugin: str, folder: Path) -> Path:
    """Build a CMake project of `library.cu` and `user.cu` in `folder`, and return the folder of its libraries.

    Prints which of -rdc=true, -dlink and -dlto CMake gave to nvcc. Raises RuntimeError with CMake's output.
    """
    for name, text in {"CMakeLists.txt": lists, "library.cu": "#define PLUGIN\n" + library, "user.cu": plugin}.items():
        (folder / name).write_text(text)
    root, build = _toolkit_with_libnvvm(folder / "toolkit"), folder / "build"
    configure = ["cmake", "-S", str(folder), "-B", str(build), "-G", "Ninja"]
    configure += [f"-DCMAKE_CUDA_COMPILER={root / 'bin' / 'nvcc'}"]
    configure += [f"-DCMAKE_CUDA_ARCHITECTURES={arch().removeprefix('sm_')}-real"]
    variables = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in (configure, ["cmake", "--build", str(build), "-v"]):
        done = subprocess.run(command, capture_output=True, text=True, env=variables)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
    words = {word for word in done.stdout.split() if word in ("-rdc=true", "-dlink", "-dlto")}
    print("CMake gave nvcc:", *sorted(words))
    return build


def _toolkit_with_libnvvm(folder: Path) -> Path:
    """Return a toolkit with `nvvm/lib64/libnvvm.so`, which nvcc's linker wants and CUDA's wheels keep elsewhere."""
    root = toolchain.cuda_root()
    if root is None:
        raise FileNotFoundError(f"no CUDA toolkit: {toolchain.SETUP}")
    if (root / "nvvm/lib64/libnvvm.so").exists():
        return root
    shutil.copytree(root, folder, copy_function=os.symlink)
    (folder / "nvvm/lib64").mkdir()
    libraries = toolchain.in_roots("lib/libnvvm.so*", "nvvm/lib*/libnvvm.so*")
    (folder / "nvvm/lib64/libnvvm.so").symlink_to(libraries[0])
    return folder


def calls_in_file(library: Path) -> int:
    """Return how many calls cuobjdump shows in the machine code of a shared library."""
    command = [str(toolchain.program("cuobjdump")), "-sass", str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.count("CALL.ABS")


_NO_INLINE = ("__noinline__", "__attribute__((noinline))")


def check_front_door(accept: Callable[[str], Any]) -> str:
    """Judge `accept(text)`: the linked program of a plug-in that fits and is inlined; ValueError for any other text.

    The plug-ins have other numbers at each try. One that fits names its parameter otherwise, and its comment has words
    of those that do not. A program must have the machine code of library and plug-in as one text, but must not come
    from `one_source`. A ValueError must have a message.
    """
    random = np.random.default_rng()
    factor, shift = (f"{number:.3f}f" for number in random.uniform(0.1, 0.9, 2))
    plain = f'extern "C" __device__ float user_transform(float x) {{ return {factor} * x + {shift}; }}'
    division = plain.replace(f"{factor} * x", f"{factor} / value").replace("float x", "float value")
    right = {"a plug-in that fits": plain, "other names, and a comment": f"// No double, no __noinline__.\n{division}"}
    wrong = {
        "no user_transform": plain.replace("user_transform", "mine"),
        "double for float": plain.replace("float", "double"),
        "a parameter of type int": plain.replace("(float x)", "(int x)"),
        "two parameters": plain.replace("(float x)", "(float x, float y)"),
        "no semicolon": plain.replace(";", ""),
        "__noinline__": plain.replace("__device__", f"__device__ {random.choice(_NO_INLINE)}"),
    }
    names = list(right) + [list(wrong)[number] for number in random.permutation(len(wrong))]
    for name in sorted(names, key=lambda name: name in wrong and name != "no user_transform"):
        if problem := _at_the_door(accept, (right | wrong)[name], name in right):
            return f"Not yet: {name}: {problem}."
    return f"Right for {len(names)} plug-ins."


def _at_the_door(accept: Callable[[str], Any], text: str, fits: bool) -> str | None:
    before = _WHOLE["compiled"]
    try:
        program = accept(text)
    except ValueError as error:
        reason = (str(error).strip().splitlines() or [""])[0][:80]
        if fits:
            return f"it was refused ({reason or 'no reason'})"
        return None if reason else "ValueError came without a reason"
    except Exception as error:
        return f"{type(error).__name__} came, wanted {'a program' if fits else 'ValueError'}"
    if not fits:
        return "it was let in"
    if _WHOLE["compiled"] > before:
        return "`one_source` compiles the library's text again; link its LTO-IR instead"
    try:
        lines = differing(one_source(kernels.source("apply_transform"), text), program)
    except Exception:
        return "what came is no linked program"
    return f"{lines} lines differ from library and plug-in compiled as one text" if lines else None


_TELLING = """
extern "C" __device__ float user_transform_times(float x, int times) { return x + 131072 + times; }
"""
"""A plug-in whose result tells how often it was called, and with which numbers in sum."""
_ASKING = """
extern "C" __device__ float user_transform_times(float x, int times);
extern "C" __global__ void apply_transform(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = user_transform_times(x[i], 1 + i % 100);
}
"""
"""A library that asks a plug-in for 1 to 100 repetitions."""


def check_one_call(library: str, plugin: str) -> str:
    """Judge a library's kernel `apply_transform(x, y, n)` and a plug-in `user_transform_times(x, times)`.

    Together they must compute y = 0.99 x + 0.5, 64 times. The kernel must call the plug-in once for each element, which
    is looked for in the code linked as PTX, and by the host way with another plug-in, which tells its calls. The
    plug-in must repeat its step as often as it is asked, which another library tries.
    """
    if not all(isinstance(text, str) for text in (library, plugin)) or "apply_transform" not in library:
        return "Not yet: the library has no kernel `apply_transform`."
    x = np.random.default_rng().integers(1, 9, 777).astype(np.float32)
    right = 0.99**64 * x + 50 * (1 - 0.99**64)
    try:
        y = _applied(plugin + library, x)
        if (wrong := np.flatnonzero(~np.isclose(y, right, rtol=1e-5))).size:
            return f"Not yet: element {wrong[0]} is {y[wrong[0]]:.5g}, expected {right[wrong[0]]:.5g}."
        calls, times = np.divmod(_applied(_TELLING + library, x) - x, 131072)
        asked = _applied(plugin + _ASKING, x)
        left = calls_left(linked(*(compiled(text, "ptx") for text in (library, plugin))))
    except (host.CompileError, host.KernelError, building.BuildError, linking.LinkingError, ValueError) as error:
        return checking.not_yet(error)
    if (calls == 1).all() and (times == 64).all():
        power = 0.99 ** (1 + np.arange(x.size) % 100)
        if not np.allclose(asked, power * x + 50 * (1 - power), rtol=1e-5):
            return "Not yet: the numbers are right for 64 repetitions, but not for other numbers from 1 to 100."
        return "Right: one call for each element."
    if not (calls == calls[0]).all() or calls[0] < 1:
        return "Not yet: the numbers are right, but they do not come from the plug-in."
    if calls[0] == 1:
        return f"Not yet: the numbers are right, but the plug-in is asked for {times[0]:.0f} repetitions, not for 64."
    if left == 1:
        return f"Not yet: one CALL stands in the machine code, but a loop runs it {calls[0]:.0f} times for an element."
    return f"Not yet: the numbers are right, but an element takes {calls[0]:.0f} calls."


def _applied(text: str, x: np.ndarray) -> np.ndarray:
    y = np.full_like(x, np.nan)
    host.compile(text, timeout=_TIMEOUT).get_function("apply_transform")((4,), (256,), (x, y, np.int64(x.size)))
    return y
