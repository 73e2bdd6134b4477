"""What a library's author ships: the price of each form, and a build by CMake."""

import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fourways import building, process, toolchain
from fourways.experiments.plugins.units import FORMS, compiled, linked, one_source
from fourways.tables import Column, Row, Table, summary
from fourways.toolchain import gpu_arch


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
    building.build_with_cmake(folder, build, options, "CMake could not build the libraries")
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
    return process.output(toolchain.program("cuobjdump"), "-sass", library).count("CALL.ABS")
