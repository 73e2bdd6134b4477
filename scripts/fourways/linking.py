"""Link one program of several translation units in five ways, and see what the linker could and could not optimise.

A call from one unit into another stays a call when the units are linked as PTX or as machine code. Link-time
optimization (LTO) keeps the compiler's own form, LTO-IR, until the link, and can inline it. Needs no GPU and no driver.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fourways import building, checking, kernels, tables, timing, toolchain

ENTRY = "apply_transform"
"""The kernel of the default program in cpp/link."""

_CALLS, _SLOPE, _SHIFT, _RTOL = 64, float(np.float32(0.99)), 0.5, 1e-5  # of cpp/link; float32 rounds 64 times
_ADVICE = (
    ("ndefined reference|nresolved extern", 'name the unit that defines it, and declare it extern "C" in every unit'),
    ("ultiple definition|multiply defined|already been defined", "keep one definition, or make the others static"),
    ("gpu.architecture", f"take one that the compiler knows, such as {', '.join(building.ARCHITECTURES)}"),
    ("error", "mend the source at the line the compiler names"),
)
# a function or variable that other units see, in PTX: `.visible .func (.param .b32 func_retval0) name(`
_DEFINED = re.compile(
    r"^\.visible \.(?:func|entry|global|const)\b.*?([\w$]+)(?:\(\s*$|\(\)|\[\d+\](?!\))|;| =)", re.MULTILINE
)

Linked = tuple[bytes, float, float | None]  # the cubin; seconds to compile all units; seconds to link, if linked
Build = Callable[[Sequence[Path], str, Path], Linked]  # of units, for an architecture, with a folder to work in


class LinkingError(RuntimeError):
    """The program could not be built: the tool's own words, and what to do about it as the last line."""

    def __init__(self, what: str, words: str = "", advice: str = "") -> None:
        words = words.replace("\0", "").strip()
        advice = advice or next((text for pattern, text in _ADVICE if re.search(pattern, words)), "")
        super().__init__(
            "\n".join(filter(None, (f"{what}:" if words else what, words, advice and f"Advice: {advice}")))
        )


def default_units() -> list[Path]:
    """The plug-in program: a library's kernel that calls `user_transform`, and a user's unit that defines it."""
    return [kernels.root() / "cpp" / "link" / name for name in ("apply_transform.cu", "user_transform.cu")]


def reference(x: np.ndarray) -> np.ndarray:
    """What the default program must compute of float32 `x`: 64 times `0.99 x + 0.5`, as a closed form in float64."""
    power = _SLOPE**_CALLS
    return (power * x.astype(np.float64) + _SHIFT * (1 - power) / (1 - _SLOPE)).astype(np.float32)


def link_all(
    units: Sequence[Path | str] = (), entry: str = ENTRY, arch: str | None = None, elements: int = timing.GPU_SIZE
) -> list[tables.Row]:
    """Build the program in every way of BUILDS for one architecture: a row each.

    `units` are files, or sources as strings (what holds a brace or a line end is a source); default: `default_units()`.
    `entry` is an `extern "C"` kernel of theirs; `arch` as "sm_90", default: this machine's GPU, else sm_90.
    A row holds `build`, `arch`, `compile_seconds`, `link_seconds`, `bytes` of the cubin, `registers`, `inlined` and the
    number of `calls` left in the kernel, `functions` left beside it; or `error`. On a GPU the default program also runs
    on `elements` floats: `check` is "right" or what is wrong, and only a right answer has device `seconds`.
    Raises LinkingError if no build succeeds, in the words of the LTO-IR link, which are the plainest.
    """
    gpu = next(iter(toolchain.gpus()), None)
    arch = f"sm_{(arch or (gpu.arch if gpu else 'sm_90')).removeprefix('sm_')}"
    runs_here = gpu is not None and not units and _runs_on(arch, gpu.arch)
    rows: list[tables.Row] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [_file(unit, number, Path(folder)) for number, unit in enumerate(units or default_units(), 1)]
        for name, build in BUILDS.items():
            row: tables.Row = {"build": name, "arch": arch, "entry": entry, "error": None}
            try:
                cubin, row["compile_seconds"], row["link_seconds"] = build(paths, arch, Path(folder))
                row |= {"bytes": len(cubin)} | look_inside(cubin, entry)
                if gpu and runs_here:
                    row |= {"gpu": gpu.name, "compute_capability": gpu.compute_capability}
                    row |= _run(cubin, entry, elements)
            except building.BuildError as error:
                row["error"] = str(LinkingError("the compiler refused", str(error)))
            except LinkingError as error:
                row["error"] = str(error)
            rows.append(row)
    if all(row["error"] for row in rows):
        raise LinkingError(next(row["error"] for row in rows if row["build"] == "LTO-IR, nvJitLink"))
    return rows


def table(rows: Sequence[tables.Row]) -> tables.Table:
    """The rows of `link_all`, to be shown; a build that failed shows the line that says why."""
    columns: list[tables.Column] = [
        ("build", lambda row: row["build"]),
        ("compile", lambda row: tables.seconds(row.get("compile_seconds"))),
        ("link", lambda row: tables.seconds(row.get("link_seconds"))),
        ("bytes", lambda row: str(row.get("bytes", ""))),
        ("registers", lambda row: str(row.get("registers", ""))),
        ("call", _call_cell),
    ]
    if any("check" in row for row in rows):
        columns += [
            ("kernel", lambda row: tables.seconds(row["seconds"]["median"]) if row.get("seconds") else ""),
            ("check", lambda row: row.get("check", "")),
        ]
    where = next((f"{row['gpu']}, {row['compute_capability']}" for row in rows if "gpu" in row), "not run")
    return tables.Table("link", rows, columns, f"{rows[0]['entry']} for {rows[0]['arch']}; GPU: {where}")


def _call_cell(row: tables.Row) -> str:
    if row["error"]:
        lines = row["error"].splitlines()
        return next((line for line in lines if re.search("error|fatal", line)), lines[0])
    return "inlined" if row["inlined"] else f"{row['calls']} left"


def look_inside(cubin: bytes, entry: str) -> tables.Row:
    """What a linked cubin shows: `registers` of the entry, `calls` in it, `inlined` (no call), other `functions`.

    Calls of the compiler's own helpers (a division's slow path, `$__internal_...`) do not count.
    Raises LinkingError if there is no kernel `entry` in it.
    """
    tool = toolchain.program("cuobjdump")
    if tool is None:
        raise LinkingError(f"no cuobjdump found: {toolchain.SETUP}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        usage = subprocess.run([str(tool), "-res-usage", file.name], capture_output=True, text=True).stdout
    registers = {name: int(number) for name, number in re.findall(r"Function (\S+):\s+REG:(\d+)", usage)}
    sass = building.disassemble(cubin)
    start = rf"(?:-- \.text\.|Function : ){re.escape(entry)}\s"
    body = re.search(start + r".*?(?=//-----|Function : |\Z)", sass, re.DOTALL)
    if entry not in registers or body is None:
        found = ", ".join(registers) or "none"
        advice = 'take one of these, and define it as extern "C" __global__'
        raise LinkingError(f"no kernel {entry!r} in the program; there are: {found}", advice=advice)
    calls = sum("$__internal_" not in line for line in re.findall(r"\bCALL\..*", body[0]))
    others = sorted(set(registers) - {entry})
    return {"registers": registers[entry], "calls": calls, "inlined": calls == 0, "functions": others}


def check_versions(output: str, compiler: tuple[int, int], linker: tuple[int, int]) -> None:
    """Raise LinkingError unless a linker of CUDA version `linker` takes "ptx" or "ltoir" of version `compiler`.

    The linker must not be older; LTO-IR moreover wants the same major version.
    Source for LTO-IR: NVIDIA's "LTO requirements" (docs.nvidia.com/cuda/mathdx/25.12.1/includes).
    """
    if compiler > linker or (output == "ltoir" and compiler[0] != linker[0]):
        made, taken = (f"{major}.{minor}" for major, minor in (compiler, linker))
        rule = "a linker no older" + (" and of the same major version" if output == "ltoir" else "")
        what = f"nvJitLink {taken} cannot link {output} of NVRTC {made}; wanted: {rule}"
        raise LinkingError(what, advice="install nvJitLink and NVRTC of one CUDA release")


# --- the five builds -------------------------------------------------------------------------------------------------


def _one_source(paths: Sequence[Path], arch: str, folder: Path) -> Linked:
    whole = folder / "one_source.cu"
    whole.write_text("".join(f'#include "{path}"\n' for path in paths), encoding="utf-8")
    built = building.build(whole, "nvrtc", arch, options=[f"-I{path.parent}" for path in paths])
    return built.code, built.seconds, None


def _nvjitlink(output: str) -> Build:
    def build(paths: Sequence[Path], arch: str, folder: Path) -> Linked:
        from cuda.bindings import nvjitlink, nvrtc
        from cuda.core import Linker, LinkerOptions, ObjectCode

        try:
            check_versions(output, nvrtc.nvrtcVersion()[1:], nvjitlink.version())
        except RuntimeError as error:  # cuda.core would ask the driver, which cannot link LTO-IR
            raise LinkingError("NVRTC or nvJitLink cannot be loaded", str(error), toolchain.SETUP) from None
        built = [building.build(path, "nvrtc", arch, output, ("-rdc=true",)) for path in paths]
        if output == "ptx":
            _check_defined_once(built)
        take = {"ptx": ObjectCode.from_ptx, "ltoir": ObjectCode.from_ltoir}[output]
        objects = [take(each.code, name=each.path.name) for each in built]
        options = LinkerOptions(arch=arch, link_time_optimization=output == "ltoir" or None, no_cache=True)
        start = time.perf_counter()
        try:
            cubin = Linker(*objects, options=options).link("cubin").code
        except nvjitlink.nvJitLinkError as error:
            raise LinkingError(f"nvJitLink refused the {output} for {arch}", str(error)) from None
        return bytes(cubin), sum(each.seconds for each in built), time.perf_counter() - start

    return build


def _check_defined_once(built: Sequence[building.Build]) -> None:
    # nvJitLink 13.5 prints this error of PTX, returns a cubin all the same, and may crash at the next link
    first: dict[str, str] = {}
    for each in built:
        for name in _DEFINED.findall(each.code.decode(errors="replace")):
            if name in first:
                words = f"Multiple definition of '{name}' in '{each.path.name}', first defined in '{first[name]}'"
                raise LinkingError("the PTX cannot be linked", words)
            first[name] = each.path.name


def _offline(*flags: str) -> Build:
    def build(paths: Sequence[Path], arch: str, folder: Path) -> Linked:
        tools = {name: toolchain.program(name) for name in ("nvcc", "nvlink")}
        if lacking := " and ".join(name for name, tool in tools.items() if tool is None):
            raise LinkingError(f"no {lacking} found: {toolchain.SETUP}")
        with tempfile.TemporaryDirectory(dir=folder) as place:
            objects = [f"{number}_{path.stem}.o" for number, path in enumerate(paths, 1)]
            compile_seconds = sum(
                _command(place, tools["nvcc"], *flags, f"-arch={arch}", "-dc", "-x", "cu", path, "-o", name)
                for path, name in zip(paths, objects, strict=True)
            )
            # nvlink wants libnvvm.so in a folder lib64; CUDA's wheels keep it as lib/libnvvm.so.4
            Path(place, "lib64").mkdir()
            for found in toolchain.in_roots("nvvm/lib*/libnvvm.so*", "lib/libnvvm.so*")[:1]:
                Path(place, "lib64", "libnvvm.so").symlink_to(found)
            runtime = toolchain.in_roots("lib*/libcudadevrt.a", f"{toolchain.TARGET}/lib/libcudadevrt.a")[:1]
            words = [f"--arch={arch}", *objects, *(f"-L{path.parent}" for path in runtime), "-lcudadevrt"]
            words += ["-dlto", f"-nvvmpath={place}"] if "-dlto" in flags else []
            link_seconds = _command(place, tools["nvlink"], *words, "-o", "linked.cubin")
            return Path(place, "linked.cubin").read_bytes(), compile_seconds, link_seconds

    return build


def _command(folder: str, tool: Path | None, *words: object) -> float:
    command, environment = [str(tool), *map(str, words)], os.environ | toolchain.environment()
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode:
        raise LinkingError(f"{Path(command[0]).name} refused", done.stdout + done.stderr)
    return time.perf_counter() - start


BUILDS: dict[str, Build] = {
    "one source": _one_source,
    "PTX, nvJitLink": _nvjitlink("ptx"),
    "LTO-IR, nvJitLink": _nvjitlink("ltoir"),
    "nvcc -rdc=true": _offline("-rdc=true"),
    "nvcc -dlto": _offline("-dlto"),
}
"""The builds by name: the first three by NVRTC in this process, the last two by nvcc and nvlink."""


# --- the units and the GPU -------------------------------------------------------------------------------------------


def _file(unit: Path | str, number: int, folder: Path) -> Path:
    if isinstance(unit, str) and re.search(r"[{\n]", unit):
        path = folder / f"unit_{number}.cu"
        path.write_text(unit, encoding="utf-8")
        return path
    if not Path(unit).is_file():
        raise LinkingError(f"no file {unit}", advice="give the path of a .cu file, or the source itself as a string")
    return Path(unit).resolve()


def _runs_on(arch: str, gpu: str) -> bool:
    """A cubin runs on GPUs of its own major version and no smaller minor one."""
    (major, minor), (gpu_major, gpu_minor) = ((name[3:-1], name[-1]) for name in (arch, gpu))
    return major == gpu_major and minor <= gpu_minor


def _run(cubin: bytes, entry: str, elements: int) -> tables.Row:
    import cupy

    module = cupy.cuda.function.Module()
    module.load(cubin)
    function = module.get_function(entry)
    x = np.random.default_rng(8).random(elements, np.float32)
    arguments = (cupy.asarray(x), cupy.full(elements, cupy.nan, cupy.float32), np.int64(elements))

    def call() -> None:
        function((-(-elements // 256),), (256,), arguments)

    call()
    problem = checking.compare(arguments[1].get(), reference(x), _RTOL)
    seconds = None if problem else timing.summary(timing.device_seconds(call))
    return {"elements": elements, "check": problem or "right", "seconds": seconds}
