"""The five builds of a program of several translation units, and a look into the linked machine code.

Needs no GPU and no driver: the architecture is given. A unit is a source, or a compiled file, which goes to the linker
unchanged.
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

from fourways import building, kernels, process, sass, toolchain

COMPILED = (".ptx", ".cubin", ".ltoir", ".fatbin", ".o", ".a")
"""The endings of files that go to the linker unchanged."""

# calls of the compiler's own functions: `$__internal_0_$__cuda_sm20_rcp_...` inside a kernel, `__cuda_sm20_rcp_...`
# outside; and calls of a label, `.L_x_64`, by which a loop starts again on sm_80 to sm_89
_COMPILERS_OWN = re.compile(r"(^|\$)__(internal|cuda)_|^\.L_")

# a pattern of a linker's message, and the advice; `building` has advice for other messages
_ADVICE = (
    ("Prototype doesn't match", "declare it with the types that it is defined with, best in one header for all units"),
    (
        r"OUTDATED_LIBRARY|may need newer version|\Anvlink fatal\s+: elfLink nvvm error\Z",
        "take a linker (nvidia-nvjitlink, or nvcc's nvlink) no older than the CUDA toolkit that made the LTO-IR, or "
        "ship LTO-IR made by the oldest toolkit that you support",
    ),
)


class Linked(NamedTuple):
    """A linked program: its cubin, and the host's seconds to compile all sources and to link (None without a link).

    `said` is the output of a linker that succeeded.
    """

    cubin: bytes
    compile_seconds: float
    link_seconds: float | None
    said: str = ""


Builder = Callable[[Sequence[Path], str, Path], Linked]
"""A function that builds units for an architecture in a folder. Raises BuildError or its subclass LinkingError."""


class LinkingError(building.BuildError):
    """A program that could not be linked, checked or timed. The message is the tool's, with advice as its last line."""


class UnfitError(LinkingError):
    """A unit that this kind of build cannot use, although the program has no error."""


def unit_file(unit: Path | str, number: int, folder: Path) -> Path:
    """Return the file of a unit. A string with a brace or a line end is a source, and is written into `folder`."""
    if isinstance(unit, str) and re.search(r"[{\n]", unit):
        path = folder / f"unit_{number}.cu"
        path.write_text(unit, encoding="utf-8")
        return path
    if not Path(unit).is_file():
        raise LinkingError(f"no file {unit}", advice="give the path of a file, or the source itself as a string")
    kernels.check_path(Path(unit).resolve())
    return Path(unit).resolve()


def check_versions(output: str, compiler: tuple[str, str], linker: tuple[str, str]) -> None:
    """Raise LinkingError if the linker cannot link the compiler's `output`: "ptx", "ltoir" or "cubin" (machine code).

    Compiler and linker are a name and a CUDA version: ("NVRTC", "13.0"). The linker must not be older than the
    compiler, and for LTO-IR both must have the same major version. Sources: NVIDIA, "nvJitLink", section
    "Compatibility" (docs.nvidia.com/cuda/nvjitlink); for nvcc's LTO docs.nvidia.com/cuda/mathdx/25.12.1/includes.
    """
    made, taken = (toolchain.version(version) for _, version in (compiler, linker))
    if made > taken or (output == "ltoir" and made.major != taken.major):
        names = {"ptx": "PTX", "ltoir": "LTO-IR", "cubin": "machine code"}
        rule = "a linker no older" + (" and of the same major version" if output == "ltoir" else "")
        raise LinkingError(
            f"{linker[0]} {taken} cannot link {names[output]} of {compiler[0]} {made}; wanted: {rule}",
            advice=f"take {linker[0]} and {compiler[0]} from one CUDA release; `fourways doctor` lists what is here",
        )


def look_inside(cubin: bytes, entry: str) -> dict[str, Any]:
    """Return what a linked cubin shows: `registers` and `calls` of the entry, `inlined` (no calls), other `functions`.

    The compiler's helper functions (a division's slow path) do not count. Without nvdisasm, calls of them do count,
    because cuobjdump does not print the names of called functions. Raises LinkingError if the cubin has no kernel
    `entry`, and FileNotFoundError without cuobjdump.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        resources = building.of_code(Path(file.name))
    if entry not in resources:
        # each kernel, and no other function, has a section for its parameters
        kernels = [name for name in resources if f"\0.nv.constant0.{name}\0".encode() in cubin]
        plain = [f"--entry {name}" for name in kernels if not name.startswith("_Z")]
        advice = ("name it: " + ", or ".join(plain)) if plain else 'define it as extern "C" __global__'
        there = ", ".join(kernels) or "none"
        raise LinkingError(f"no kernel {entry!r} in the program; there are: {there}", advice=advice)
    lines = [line for line in sass.parse(sass.disassemble(cubin)) if line.entry == entry and line.base == "CALL"]
    calls = sum(not _COMPILERS_OWN.search(line.target) for line in lines)
    others = sorted(name for name in resources if name != entry and not _COMPILERS_OWN.search(name))
    return {"registers": resources[entry].registers, "calls": calls, "inlined": calls == 0, "functions": others}


def is_compiled(unit: Path) -> bool:
    """Return whether this file goes to the linker unchanged. Any other file is a source."""
    return unit.suffix in COMPILED


def _one_source(paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    if others := [path.name for path in paths if is_compiled(path)]:
        raise UnfitError(f"wants the source of every unit; compiled already: {', '.join(others)}")
    whole = folder / "one_source.cu"
    whole.write_text("".join(f'#include "{path}"\n' for path in paths), encoding="utf-8")
    built = building.build(whole, "nvrtc", arch, options=[f"-I{path.parent}" for path in paths])
    return Linked(built.code, built.seconds, None)


def _nvjitlink(output: str, paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    try:
        from cuda.bindings import nvjitlink, nvrtc

        made, taken = ("{}.{}".format(*version) for version in (nvrtc.nvrtcVersion()[1:], nvjitlink.version()))
    except (ImportError, RuntimeError) as problem:
        raise LinkingError(f"nvJitLink or NVRTC cannot be loaded ({problem})", advice=toolchain.SETUP) from None
    check_versions(output, ("NVRTC", made), ("nvJitLink", taken))
    _check_units(output, paths, arch, folder)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        units, seconds = _by_nvrtc(paths, arch, output, Path(place))
        cubin, link_seconds, said = _link(units, arch, output == "ltoir", Path(place))
    if re.search(r"\berror\b", said):
        raise _refusal("nvJitLink printed an error, and gave a cubin all the same", said)
    return Linked(cubin, seconds, link_seconds, said)


def _by_nvrtc(paths: Sequence[Path], arch: str, output: str, folder: Path) -> tuple[list[Path], float]:
    """Compile the sources by NVRTC to files in `folder`; return all units for nvJitLink, and the seconds."""
    units, seconds = [], 0.0
    for number, path in enumerate(paths, 1):
        if not is_compiled(path):
            built = building.build(path, "nvrtc", arch, output, ["-rdc=true"])
            seconds += built.seconds
            path = Path(f"{number}_{path.stem}.{output}")  # relative, as nvJitLink prints it
            (folder / path).write_bytes(built.code)
        units.append(path)
    return units, seconds


def _link(units: Sequence[Path], arch: str, lto: bool, folder: Path) -> tuple[bytes, float, str]:
    """Link files in `folder`, and return cubin, seconds and output. Raises LinkingError if nvJitLink fails."""
    task = {"arch": arch, "lto": lto, "cubin": "linked.cubin", "units": [str(unit) for unit in units]}
    ended = process.run(Path(__file__).with_name("nvjitlink_process.py"), task, os.environ, folder)
    said = ended.words.replace("@E@", "").strip()  # nvJitLink prints this mark before some errors
    if "NO_MODULE_IN_PROGRAM" in said:
        raise UnfitError("finds no LTO-IR in these units")
    if ended.status:
        how = "refused the link" if ended.status > 0 else f"crashed (signal {-ended.status}) in the link"
        raise _refusal(f"nvJitLink {how} for {arch}", said)
    return Path(folder, "linked.cubin").read_bytes(), ended.answer["seconds"], said


def _refusal(what: str, words: str) -> LinkingError:
    """Return a LinkingError with the advice for a linker's message."""
    return LinkingError(what, words, next((text for pattern, text in _ADVICE if re.search(pattern, words.strip())), ""))


def _check_units(output: str, paths: Sequence[Path], arch: str, folder: Path) -> None:
    """Raise UnfitError if a link to another `output` than "ltoir" gets units of LTO-IR.

    For LTO-IR, raise LinkingError if a unit declares a function with other types than the unit that defines it.
    nvJitLink does not compare units of LTO-IR with each other, but it compares PTX with every other unit. So all
    sources are linked once as PTX. Two units that came as LTO-IR are not compared.
    """
    if output != "ltoir":
        if unfit := [path.name for path in paths if path.suffix == ".ltoir"]:
            raise UnfitError(f"only an LTO link takes LTO-IR: {', '.join(unfit)}")
        return
    with tempfile.TemporaryDirectory(dir=folder) as place:
        nothing = Path(place, "nothing.cu")
        nothing.write_text("")
        try:
            units, _ = _by_nvrtc(paths, arch, "ptx", Path(place))
            empty, _ = _by_nvrtc([nothing], arch, "ltoir", Path(place))  # an LTO link needs a unit of LTO-IR
            said = _link([*units, *empty], arch, True, Path(place))[2]
        except building.BuildError:
            return  # NVRTC may refuse what nvcc accepts, and the build itself has the better message
    if lines := [line for line in said.splitlines() if "Prototype doesn't match" in line]:
        raise _refusal(
            "a function is declared with other types than it is defined with; LTO would not notice", "\n".join(lines)
        )


def _offline(flag: str, paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    output = "ltoir" if flag == "-dlto" else "cubin"
    nvcc, nvlink = toolchain.program("nvcc"), toolchain.program("nvlink")
    if nvcc is None or nvlink is None:
        raise LinkingError(f"no {'nvlink' if nvcc else 'nvcc'} found: {toolchain.SETUP}")
    versions = [(tool.name, toolchain.program_version(tool) or "") for tool in (nvcc, nvlink)]
    check_versions(output, *versions)
    _check_units(output, paths, arch, folder)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        units: list[Path | str] = []
        compile_seconds = 0.0
        for number, path in enumerate(paths, 1):
            if is_compiled(path):
                units.append(path)
                continue
            units.append(f"{number}_{path.stem}.o")
            compile_seconds += _command(place, nvcc, flag, f"-arch={arch}", "-dc", "-x", "cu", path, "-o", units[-1])[0]
        # nvlink looks for libnvvm.so in a folder lib64; CUDA's wheels have it as lib/libnvvm.so.4
        Path(place, "lib64").mkdir()
        for library in toolchain.in_roots("nvvm/lib*/libnvvm.so*", "lib/libnvvm.so*")[:1]:
            Path(place, "lib64", "libnvvm.so").symlink_to(library)
        runtime = toolchain.in_roots("lib*/libcudadevrt.a", f"{toolchain.TARGET}/lib/libcudadevrt.a")[:1]
        words = [f"--arch={arch}", *units, *(f"-L{path.parent}" for path in runtime), "-lcudadevrt"]
        words += ["-dlto", f"-nvvmpath={place}"] if output == "ltoir" else []
        link_seconds, said = _command(place, nvlink, *words, "-o", "linked.cubin")
        return Linked(Path(place, "linked.cubin").read_bytes(), compile_seconds, link_seconds, said)


def _command(folder: str, tool: Path, *words: Path | str) -> tuple[float, str]:
    """Run a tool in `folder`, and return the seconds and its output. Raises LinkingError if it fails."""
    environment = os.environ | toolchain.variables() | {"TMPDIR": folder}
    start = time.perf_counter()
    done = subprocess.run([tool, *words], capture_output=True, text=True, errors="replace", cwd=folder, env=environment)
    seconds, said = time.perf_counter() - start, done.stdout + done.stderr
    if done.returncode:
        raise _refusal(f"{tool.name} refused", said)
    return seconds, said.strip()


BUILDS: dict[str, Builder] = {
    "one source": _one_source,
    "PTX, nvJitLink": functools.partial(_nvjitlink, "ptx"),
    "LTO-IR, nvJitLink": functools.partial(_nvjitlink, "ltoir"),
    "nvcc -rdc=true": functools.partial(_offline, "-rdc=true"),
    "nvcc -dlto": functools.partial(_offline, "-dlto"),
}
"""The builds by name: three by NVRTC in this process, two by nvcc and nvlink."""
