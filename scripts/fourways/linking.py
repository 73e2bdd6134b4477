"""Programs of several units, compiled apart and linked as PTX, cubin or LTO-IR; and the calls that the linker left.

A unit is a text of CUDA C++ that is compiled by itself. The compiler cannot inline a call from one unit into another,
but a linker can if the units are LTO-IR, the compiler's intermediate form. Nothing here needs a GPU or a driver.

    library = 'extern "C" __device__ float f(float); extern "C" __global__ void k(float *x) { *x = f(*x); }'
    user = 'extern "C" __device__ float f(float x) { return x + 1; }'
    cubin = linking.link([linking.compile(unit, "LTO-IR") for unit in (library, user)], "LTO-IR")
    linking.calls_left(cubin.code, "k")  # 0

A linker must not be older than the compiler, and for LTO-IR both must be of one CUDA major version. To use this file in
a project of your own, copy it and `tables.py`. It needs `cuda-core`, and a CUDA toolkit's `nvdisasm`; `offline` needs
its `nvcc` and `nvlink`.
"""

import contextlib
import functools
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cuda import pathfinder
from cuda.bindings import nvrtc
from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

try:
    from fourways import tables
except ImportError:  # a copy in another project, with tables.py beside it
    import tables  # type: ignore[no-redef]

FORMS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "PTX": ("ptx", {"relocatable_device_code": True}, {}),
    "cubin": ("cubin", {"relocatable_device_code": True}, {}),
    "LTO-IR": ("ltoir", {"link_time_optimization": True}, {"link_time_optimization": True}),
}
"""The forms of a unit: `Program.compile`'s target, and the options of `ProgramOptions` and of `LinkerOptions`."""

# Calls of the compiler's own functions, such as a division's slow path, and of a label, by which a loop starts again.
_COMPILERS_OWN = re.compile(r"(^|\$)__(internal|cuda)_|^\.L_")


def compile(source: str, form: str, arch: str = "sm_90", name: str = "unit", **options: Any) -> ObjectCode:
    """Compile a unit by NVRTC to a form of `FORMS`, and print the options.

    `name` is what messages call the unit. More `options` are those of `ProgramOptions`, such as `include_path`. Raises
    `cuda.core`'s NVRTCError, with NVRTC's words, if the unit is wrong.
    """
    target, needed, _ = FORMS[form]
    chosen = needed | options
    print(f"Program(…, ProgramOptions({_shown(arch=arch, **chosen)})).compile({target!r})")
    settings = ProgramOptions(name=name, arch=arch, **chosen)
    program = Program(source, "c++", settings)
    try:
        return program.compile(target)
    except pathfinder.DynamicLibNotFoundError:  # cuda.core asks the driver whether it knows this PTX
        return _ptx_without_driver(program, settings, name)


def link(units: Sequence[ObjectCode], form: str, arch: str = "sm_90") -> ObjectCode:
    """Link units of a form by nvJitLink to a cubin, and print the options.

    `cupy.RawModule(path=…)` and `cuda.core.ObjectCode.get_kernel` take the cubin. Raises nvJitLink's error for a
    function that no unit defines. nvJitLink 13 only prints an error, on standard error, if two units of PTX define one
    function.
    """
    needed = FORMS[form][2]
    print(f"Linker(*units, options=LinkerOptions({_shown(arch=arch, **needed)})).link('cubin')")
    return Linker(*units, options=LinkerOptions(arch=arch, **needed)).link("cubin")


def calls_left(cubin: bytes, kernel: str) -> int:
    """Count the calls in a kernel's machine code (SASS), by nvdisasm: 0 if everything was inlined.

    Calls of the compiler's own functions do not count. Raises ValueError if the cubin has no kernel of this name.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        code = _run([_tool("nvdisasm"), "-c", file.name])
    sections = dict(re.findall(r"^\s*\.section\s+\.text\.([^,\s]+)(.*?)(?=^\s*\.section\s|\Z)", code, re.M | re.S))
    if kernel not in sections:
        raise ValueError(f"no kernel {kernel!r} in the cubin; its functions: {', '.join(sections) or 'none'}")
    targets = re.findall(r"\bCALL\.[^;]*?`\(([^)]+)\)", sections[kernel])
    return sum(not _COMPILERS_OWN.search(target) for target in targets)


def offline(sources: Sequence[Path], arch: str = "sm_90", lto: bool = True) -> bytes:
    """Compile files by nvcc and link them by nvlink, print the commands, and return the cubin.

    With `lto` the units are LTO-IR (`-dlto`), else machine code (`-rdc=true`). nvcc's own link (`-dlink`) would do, but
    not with the toolkit of PyPI's wheels: there nvlink needs a folder in which `lib64/libnvvm.so` lies. Raises
    RuntimeError with the tool's words if a tool refuses.
    """
    flag = "-dlto" if lto else "-rdc=true"
    with tempfile.TemporaryDirectory() as folder:
        objects = [f"{folder}/{number}_{source.stem}.o" for number, source in enumerate(sources, 1)]
        for source, made in zip(sources, objects, strict=True):
            _run([_tool("nvcc"), flag, f"-arch={arch}", "-dc", "-x", "cu", str(source), "-o", made], show=True)
        root, cubin = Path(_tool("nvlink")).resolve().parents[1], Path(folder, "linked.cubin")
        runtime = [*root.glob("lib*/libcudadevrt.a"), *root.glob("targets/*/lib/libcudadevrt.a")]
        words = [*[f"-L{path.parent}" for path in runtime[:1]], "-lcudadevrt"]
        if lto:
            Path(folder, "lib64").mkdir()
            library = next(root.glob("nvvm/lib*/libnvvm.so*"), None) or next(root.glob("lib*/libnvvm.so*"))
            Path(folder, "lib64", "libnvvm.so").symlink_to(library)
            words += ["-dlto", f"-nvvmpath={folder}"]
        _run([_tool("nvlink"), f"--arch={arch}", *objects, *words, "-o", str(cubin)], show=True)
        return cubin.read_bytes()


def compare(sources: Sequence[Path], kernel: str, arch: str = "sm_90", **options: Any) -> tables.Table:
    """Compile and link files in each form, and by nvcc and nvlink; return a row for each with the calls that are left.

    A row has `form`, `calls`, `bytes` of the cubin, `clock` ("host"), and `seconds` for compiling and linking; or
    `refused`, the first line of a tool's error. A program that cannot be linked as cubins raises the linker's error.
    The libraries are loaded by a first, untimed link, and NVRTC's cache is off. More `options` are those of
    `ProgramOptions`. Headers are found in a file's own folder.
    """
    paths = [Path(source).resolve() for source in sources]

    def joined(form: str) -> bytes:
        units = []
        for path in paths:
            given = {"include_path": [str(path.parent)], "no_cache": True} | options
            units.append(compile(path.read_text(encoding="utf-8"), form, arch, path.name, **given))
        return bytes(link(units, form, arch).code)

    builds: dict[str, Callable[[], bytes]] = {form: functools.partial(joined, form) for form in FORMS}
    builds |= {"nvcc -rdc=true": lambda: offline(paths, arch, lto=False), "nvcc -dlto": lambda: offline(paths, arch)}
    with contextlib.redirect_stdout(None):
        joined("cubin")
    rows: list[tables.Row] = []
    for form, build in builds.items():
        start = time.perf_counter()
        try:
            cubin = build()
        except Exception as error:  # the other forms may do
            rows.append({"form": form, "refused": str(error).strip().partition("\n")[0]})
            continue
        row: tables.Row = {"form": form, "clock": "host", "seconds": time.perf_counter() - start, "bytes": len(cubin)}
        rows.append(row | {"calls": calls_left(cubin, kernel)})
    columns: list[tables.Column] = ["form", ("calls left", "calls"), "bytes", ("compile and link", "seconds")]
    columns += ["refused"] if any("refused" in row for row in rows) else []
    return tables.Table("linking", rows, columns, f"{kernel} for {arch}; one build of each form, by the host's clock.")


def _ptx_without_driver(program: Program, options: ProgramOptions, name: str) -> ObjectCode:
    """Do what `Program.compile("ptx")` does, on a machine without a driver."""
    words = options.as_bytes("nvrtc")
    (status,) = nvrtc.nvrtcCompileProgram(program.handle, len(words), words)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b" " * nvrtc.nvrtcGetProgramLogSize(program.handle)[1]
        nvrtc.nvrtcGetProgramLog(program.handle, log)
        raise RuntimeError(f"{status.name}\n{log.decode(errors='replace')}")
    ptx = b" " * nvrtc.nvrtcGetPTXSize(program.handle)[1]
    nvrtc.nvrtcGetPTX(program.handle, ptx)
    return ObjectCode.from_ptx(ptx, name=name)


def _shown(**options: Any) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def _tool(name: str) -> str:
    """Return the path of a CUDA toolkit's program: in PyPI's wheels, in conda, in CUDA_PATH, or on PATH."""
    if path := pathfinder.find_nvidia_binary_utility(name) or shutil.which(name):
        return path
    raise FileNotFoundError(f"no {name} found: install the CUDA toolkit, or from PyPI nvidia-cuda-nvcc and -nvdisasm")


def _run(words: Sequence[str], show: bool = False) -> str:
    """Run a tool, and return what it prints. Raises RuntimeError with its words if it fails."""
    if show:
        print(shlex.join(words))
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{Path(words[0]).name} failed:\n{(done.stderr or done.stdout).strip()}")
    return done.stdout
