"""Five builds of one program of several translation units, what each linker can be asked, and what it answers.

Needs no GPU and no driver: all compile for an architecture that is named.
"""

import functools
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fourways import building, sass, toolchain

SIGNATURE = "(const float* x, float* y, long long n)"
"""The parameters of a kernel that can be run here, whatever their names; `long` passes for `long long`."""

# a function or variable that other units see, in PTX: `.visible .func (.param .b32 func_retval0) name(`
_DEFINED = re.compile(
    r"^\.visible \.(?:func|entry|global|const)\b.*?([\w$]+)(?:\(\s*$|\(\)|\[\d+\](?!\))|;| =)", re.MULTILINE
)

# the compiler's own function: `$__internal_0_$__cuda_sm20_rcp_...` in a kernel, `__cuda_sm20_rcp_...` beside it
_HELPER = re.compile(r"(^|\$)__(internal|cuda)_")


class Linked(NamedTuple):
    """A program's cubin; the host's seconds to compile all units, and to link them (None where nothing is linked)."""

    cubin: bytes
    compile_seconds: float
    link_seconds: float | None


Builder = Callable[[Sequence[Path], str, Path], Linked]
"""Builds units for an architecture, given a folder to work in; raises BuildError, of which LinkingError is one."""


class LinkingError(building.BuildError):
    """The program could not be linked, checked or timed: the tool's own words, and what to do as the last line."""


def unit_file(unit: Path | str, number: int, folder: Path) -> Path:
    """A unit as a file: what holds a brace or a line end is a source, and is written into `folder`."""
    if isinstance(unit, str) and re.search(r"[{\n]", unit):
        path = folder / f"unit_{number}.cu"
        path.write_text(unit, encoding="utf-8")
        return path
    if not Path(unit).is_file():
        raise LinkingError(f"no file {unit}", advice="give the path of a .cu file, or the source itself as a string")
    return Path(unit).resolve()


def check_versions(output: str, compiler: tuple[str, str], linker: tuple[str, str]) -> None:
    """Raise LinkingError unless the linker takes what the compiler makes: "ptx", "ltoir", or "cubin" (machine code).

    Compiler and linker are a name and a CUDA version: ("NVRTC", "13.0"). The linker must not be older; LTO-IR moreover
    wants the same major version. Source: NVIDIA, "nvJitLink", section "Compatibility" (docs.nvidia.com/cuda/nvjitlink),
    by which PTX and machine code link across major versions. That text is about nvJitLink; of nvcc's LTO the same is
    said in docs.nvidia.com/cuda/mathdx/25.12.1/includes.
    """
    made, taken = (toolchain.version(version) for _, version in (compiler, linker))
    if made > taken or (output == "ltoir" and made.major != taken.major):
        names = {"ptx": "PTX", "ltoir": "LTO-IR", "cubin": "machine code"}
        rule = "a linker no older" + (" and of the same major version" if output == "ltoir" else "")
        raise LinkingError(
            f"{linker[0]} {taken} cannot link {names[output]} of {compiler[0]} {made}; wanted: {rule}",
            advice=f"take {linker[0]} and {compiler[0]} from one CUDA release; `fourways doctor` lists what is here",
        )


def takes_signature(paths: Sequence[Path], entry: str, arch: str, folder: Path) -> bool:
    """Whether the kernel `entry` of these units has the parameters SIGNATURE: the compiler is asked."""
    asked = f"""
__device__ void fourways_asks(void (*)(const float*, float*, long long));
__device__ void fourways_asks(void (*)(const float*, float*, long));
using fourways_asked = decltype(fourways_asks(&{entry}));
"""
    try:
        _together(paths, arch, folder / "signature.cu", "ptx", asked)
    except building.BuildError:
        return False
    return True


def look_inside(cubin: bytes, entry: str) -> dict[str, Any]:
    """What a linked cubin shows: `registers` of the entry, `calls` in it, `inlined` (no call), other `functions`.

    The compiler's own helpers (a division's slow path) do not count; but where nvdisasm is missing, cuobjdump does not
    name what is called, and then calls of them do. Raises LinkingError if there is no kernel `entry` in it,
    FileNotFoundError without cuobjdump.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        resources = building.of_code(Path(file.name))
    if entry not in resources:
        found = ", ".join(resources) or "none"
        advice = ("take one of these, and " if resources else "") + 'define it as extern "C" __global__'
        raise LinkingError(f"no kernel {entry!r} in the program; there are: {found}", advice=advice)
    lines = [line for line in sass.parse(sass.disassemble(cubin)) if line.entry == entry and line.base == "CALL"]
    calls = sum(not _HELPER.search(line.target) for line in lines)
    others = sorted(name for name in resources if name != entry and not _HELPER.search(name))
    return {"registers": resources[entry].registers, "calls": calls, "inlined": calls == 0, "functions": others}


def _together(paths: Sequence[Path], arch: str, whole: Path, output: str = "cubin", more: str = "") -> building.Build:
    whole.write_text("".join(f'#include "{path}"\n' for path in paths) + more, encoding="utf-8")
    return building.build(whole, "nvrtc", arch, output, [f"-I{path.parent}" for path in paths])


def _one_source(paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    built = _together(paths, arch, folder / "one_source.cu")
    return Linked(built.code, built.seconds, None)


def _nvjitlink(output: str, paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    from cuda import core
    from cuda.bindings import nvjitlink, nvrtc

    built = [building.build(path, "nvrtc", arch, output, ["-rdc=true"]) for path in paths]
    if core.Linker.which_backend() != "nvJitLink":
        why = "which cannot link LTO-IR" if output == "ltoir" else "which would be another build"
        what = f"nvJitLink is missing or too old; cuda.core would ask the NVIDIA driver instead, {why}"
        raise LinkingError(what, advice=toolchain.SETUP)
    made, taken = ("{}.{}".format(*version) for version in (nvrtc.nvrtcVersion()[1:], nvjitlink.version()))
    check_versions(output, ("NVRTC", made), ("nvJitLink", taken))
    if output == "ptx":
        _check_defined_once(built)
    take = {"ptx": core.ObjectCode.from_ptx, "ltoir": core.ObjectCode.from_ltoir}[output]
    objects = [take(each.code, name=each.path.name) for each in built]
    options = core.LinkerOptions(arch=arch, link_time_optimization=output == "ltoir" or None, no_cache=True)
    start = time.perf_counter()
    try:
        cubin = core.Linker(*objects, options=options).link("cubin").code
    except nvjitlink.nvJitLinkError as error:
        raise LinkingError(f"nvJitLink refused the {output} for {arch}", str(error)) from None
    return Linked(bytes(cubin), sum(each.seconds for each in built), time.perf_counter() - start)


def _check_defined_once(built: Sequence[building.Build]) -> None:
    # nvJitLink 13.5 prints this error of PTX, returns a cubin all the same, and may crash at the next link
    first: dict[str, str] = {}
    for each in built:
        for name in _DEFINED.findall(each.code.decode(errors="replace")):
            if name in first:
                words = f"Multiple definition of '{name}' in '{each.path.name}', first defined in '{first[name]}'"
                raise LinkingError("the PTX cannot be linked", words)
            first[name] = each.path.name


def _offline(flag: str, paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    output = "ltoir" if flag == "-dlto" else "cubin"
    nvcc, nvlink = toolchain.program("nvcc"), toolchain.program("nvlink")
    if nvcc is None or nvlink is None:
        raise LinkingError(f"no {'nvlink' if nvcc else 'nvcc'} found: {toolchain.SETUP}")
    versions = [(tool.name, toolchain.program_version(tool) or "") for tool in (nvcc, nvlink)]
    check_versions(output, *versions)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        objects = [f"{number}_{path.stem}.o" for number, path in enumerate(paths, 1)]
        compile_seconds = sum(
            _command(place, nvcc, flag, f"-arch={arch}", "-dc", "-x", "cu", path, "-o", name)
            for path, name in zip(paths, objects, strict=True)
        )
        # nvlink wants libnvvm.so in a folder lib64; CUDA's wheels keep it as lib/libnvvm.so.4
        Path(place, "lib64").mkdir()
        for found in toolchain.in_roots("nvvm/lib*/libnvvm.so*", "lib/libnvvm.so*")[:1]:
            Path(place, "lib64", "libnvvm.so").symlink_to(found)
        runtime = toolchain.in_roots("lib*/libcudadevrt.a", f"{toolchain.TARGET}/lib/libcudadevrt.a")[:1]
        words = [f"--arch={arch}", *objects, *(f"-L{path.parent}" for path in runtime), "-lcudadevrt"]
        words += ["-dlto", f"-nvvmpath={place}"] if output == "ltoir" else []
        link_seconds = _command(place, nvlink, *words, "-o", "linked.cubin")
        return Linked(Path(place, "linked.cubin").read_bytes(), compile_seconds, link_seconds)


def _command(folder: str, tool: Path, *words: Path | str) -> float:
    environment = os.environ | toolchain.variables()
    start = time.perf_counter()
    done = subprocess.run([tool, *words], capture_output=True, text=True, errors="replace", cwd=folder, env=environment)
    if done.returncode:
        raise LinkingError(f"{tool.name} refused", done.stdout + done.stderr)
    return time.perf_counter() - start


BUILDS: dict[str, Builder] = {
    "one source": _one_source,
    "PTX, nvJitLink": functools.partial(_nvjitlink, "ptx"),
    "LTO-IR, nvJitLink": functools.partial(_nvjitlink, "ltoir"),
    "nvcc -rdc=true": functools.partial(_offline, "-rdc=true"),
    "nvcc -dlto": functools.partial(_offline, "-dlto"),
}
"""The builds by name: the first three by NVRTC in this process, the last two by nvcc and nvlink."""
