"""Units compiled in three forms and linked into programs, what is in their machine code, and what each form costs."""

import functools
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fourways import building, linking, sass, toolchain
from fourways.experiments import projects, tools
from fourways.tables import Column, Row, Table, summary
from fourways.toolchain import gpu_arch

FORMS = {
    "ptx": {"relocatable_device_code": True},
    "cubin": {"relocatable_device_code": True},  # machine code
    "ltoir": {"link_time_optimization": True},
}
"""The three forms of a unit for a linker, with the options by which `cuda.core` compiles it."""
DECLARATION = 'extern "C" __device__ float user_transform(float x);\n'
"""What the library's kernel `apply_transform` expects of a plug-in."""


def compiled(text: str, form: str, target: str | None = None, **more: Any) -> Any:
    """Return a unit, compiled with -DPLUGIN to one of `FORMS` for the architecture `target`, as an `ObjectCode`.

    `more` are further options of `cuda.core.ProgramOptions`. Caches are off. Raises the compiler's errors.
    """
    if form == "ptx" and not toolchain.driver():
        return _ptx_without_driver(text)
    return _compile(text, form, arch=target or gpu_arch(), **FORMS[form], **more)


def _compile(text: str, form: str, **options: Any) -> Any:
    from cuda.core import Program, ProgramOptions

    return Program(text, "c++", ProgramOptions(define_macro="PLUGIN", no_cache=True, **options)).compile(form)


def _ptx_without_driver(text: str) -> Any:
    """Compile by NVRTC itself, because `cuda.core` asks the driver before it makes PTX."""
    from cuda.core import ObjectCode

    with TemporaryDirectory() as folder:
        file = Path(folder, "unit.cu")
        file.write_text(text)
        return ObjectCode.from_ptx(building.build(file, "nvrtc", gpu_arch(), "ptx", ("-rdc=true", "-DPLUGIN")).code)


def linked(*units: Any) -> Any:
    """Link units by nvJitLink, with link-time optimization if one of them is LTO-IR, and return the program.

    Raises the linker's errors.
    """
    return _linker(units, any(unit.code_type in ("ltoir", "library") for unit in units)).link("cubin")


def _linker(units: Iterable[Any], lto: bool) -> Any:
    from cuda.core import Linker, LinkerOptions

    return Linker(*units, options=LinkerOptions(arch=gpu_arch(), link_time_optimization=lto, no_cache=True))


def link_log(*units: Any) -> str:
    """Link units with link-time optimization, and return the first line of what the linker has in its error log."""
    linker = _linker(units, True)
    linker.link("cubin")  # does not fail
    return (linker.get_error_log().strip("\n\0").splitlines() or ["nothing"])[0]


def one_source(library: str, plugin: str, **more: Any) -> Any:
    """Compile a library's text and a plug-in's as one text, without a linker, and return the program."""
    return _compile(plugin + library, "cubin", arch=gpu_arch(), **more)


@functools.cache
def _parsed(cubin: bytes) -> list[Any]:
    return sass.parse(sass.disassemble(cubin))


def listing(program: Any) -> list[Any]:
    """Return the instructions of a program's `apply_transform`, in order."""
    return [line for line in _parsed(program.code) if line.entry == "apply_transform"]


def calls_left(program: Any) -> int:
    """Return how many calls of the program's own functions stand in the machine code of `apply_transform`."""
    return linking.calls_left(program.code, "apply_transform")


def differing(program: Any, other: Any) -> int:
    """Return how many lines of `apply_transform` differ between two programs, with registers renamed.

    A line that only one of the two has differs, too.
    """
    return sass.differing(listing(program), listing(other))


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
    note = f"For {gpu_arch()}. Compiled as one text, the kernel has {len(listing(whole))} lines."
    return Table("looked_inside", rows, note=note)


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
    return Table("price", rows, columns, f"For {gpu_arch()}, host clock. Each plug-in: compiled and linked.")


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


def build_by_cmake(lists: str, library: str, plugin: str, folder: Path) -> Path:
    """Build a CMake project of `library.cu` and `user.cu` in `folder`, and return the folder of its libraries.

    Prints which of -rdc=true, -dlink and -dlto CMake gave to nvcc. Raises BuildError with CMake's output.
    """
    for name, text in {"CMakeLists.txt": lists, "library.cu": "#define PLUGIN\n" + library, "user.cu": plugin}.items():
        (folder / name).write_text(text)
    root, build = _toolkit_with_libnvvm(folder / "toolkit"), folder / "build"
    options = [f"-DCMAKE_CUDA_COMPILER={root / 'bin' / 'nvcc'}"]
    options += [f"-DCMAKE_CUDA_ARCHITECTURES={gpu_arch().removeprefix('sm_')}-real"]
    projects.build_with_cmake(folder, build, options, "CMake could not build the libraries")
    steps = "".join(file.read_text() for file in (build / "build.ninja", build / "CMakeFiles" / "rules.ninja"))
    words = {word for word in steps.split() if word in ("-rdc=true", "-dlink", "-dlto")}
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
    return tools.output(toolchain.program("cuobjdump"), "-sass", library).count("CALL.ABS")
