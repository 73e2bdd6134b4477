"""All that one compiler makes of one kernel: seconds cold and cached, bytes, resources. Needs no GPU and no driver.

nvrtc, nvcc   the compilers themselves (`fourways.building`)
pycuda        nvcc, called as PyCUDA's `SourceModule` calls it
cuda.core     NVRTC, called by `cuda.core.Program`
cmake         the whole extension module `fourways_aot` with this kernel alone: configured, compiled, linked. Its
              cubin holds whatever else `cpp/aot/NAME.cu` calls, as CUB's own kernels

*cold* compiles: nothing is taken from a cache. *cached* is what a new process pays for the same build again, imports
and the GPU's context not counted: it finds the machine code in the tool's own cache, or for cmake nothing to do.
nvcc keeps no cache. NVRTC 13.0 keeps one where there is a driver, and confuses builds with and without `-ftz` in it, so
it is off here. CuPy's `RawModule` keeps one for either, and asks the GPU for its architecture, so these two times need
one. They hold what CuPy does besides: an empty file is compiled, whose output names the compiler's
version, and the machine code found goes to the driver.
"""

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourways import building, first_result, kernels, lesson, toolchain
from fourways.building import BuildError, Resources

COMPILERS = ("nvrtc", "nvcc", "pycuda", "cuda.core", "cmake")
ARTEFACTS = ("cubin", "ptx", "ltoir", "fatbin", "module")
TIMES = 3
"""How often each build is timed; the whole module of cmake once."""

_NO_CACHE = {"CUDA_CACHE_DISABLE": "1"}  # NVRTC's own, which cuda.core and CuPy do not switch off


class NotOfferedError(Exception):
    """This compiler cannot do that, through no fault of the kernel; the message says why."""


@dataclass
class Made:
    """What a compiler made for one architecture.

    `seconds` and `cached` are samples by the host's clock; `sizes` are bytes by artefact; `resources` by entry point.
    `missing` says why there is no `cached`, no such artefact, or no such resource (`shared`, `spill`).
    """

    seconds: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    resources: dict[str, Resources] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def make(path: Path | str, compiler: str, arch: str, options: Sequence[str] = ()) -> Made:
    """Build the kernel file `path` by one of COMPILERS for `arch` ("sm_90") with `options`, and build it again.

    Raises ValueError for another compiler, NotOfferedError where this one cannot build this kernel here, BuildError
    with the compiler's own words, and one line of advice, where it refuses.
    """
    if compiler not in COMPILERS:
        raise ValueError(f"no compiler {compiler!r}; there are: {', '.join(COMPILERS)}")
    if reason := unavailable(compiler, Path(path)):
        raise NotOfferedError(reason)
    # PyCUDA and CMake run nvcc in folders of their own
    options = [f"-I{Path(word[2:]).absolute()}" if word.startswith("-I") else word for word in options]
    maker = {"nvrtc": _direct, "nvcc": _direct, "cmake": _cmake}.get(compiler, _packaged)
    try:
        with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
            return maker(Path(path).resolve(), compiler, arch, tuple(options), Path(folder))
    except BuildError as error:
        raise BuildError(building.with_advice(str(error))) from None


def unavailable(compiler: str, path: Path) -> str | None:
    """Why `compiler` cannot build the kernel file `path` on this machine, or None if it can."""
    if compiler == "pycuda" and not toolchain.installed("pycuda"):
        return "PyCUDA is not installed: fourways install-pycuda"
    if compiler in ("nvcc", "pycuda", "cmake") and not toolchain.nvcc():
        return f"no nvcc found: {toolchain.SETUP}"
    if compiler == "cmake":
        if not toolchain.program("cuobjdump"):
            return f"no cuobjdump found, which looks into the module: {toolchain.SETUP}"
        home = kernels.root() / "cpp"
        if path.resolve().parent != home / "kernels":
            return f"the module holds kernels of cpp/kernels alone, and {path.name} lies elsewhere"
        if not (home / "aot" / f"{path.stem}.cu").is_file():
            return f"there is no cpp/aot/{path.stem}.cu that binds this kernel"
    return None


def _direct(path: Path, compiler: str, arch: str, options: tuple[str, ...], folder: Path) -> Made:
    outputs = [output for output in building.OUTPUTS if output != "fatbin" or compiler == "nvcc"]
    builds = {output: building.build(path, compiler, arch, output, options) for output in outputs}
    cubin = builds["cubin"]
    again = [building.build(path, compiler, arch, options=options) for _ in range(TIMES - 1)]
    made = Made([build.seconds for build in (cubin, *again)], resources=cubin.resources)
    made.sizes = {output: len(build.code) for output, build in builds.items()}
    gpus = {gpu.arch for gpu in toolchain.gpus()}
    reason = toolchain.missing(compiler) or ("" if arch in gpus else f"this machine's GPU is {', '.join(gpus)}")
    if reason:
        made.missing["cached"] = f"the compiler keeps no cache; CuPy's needs a GPU ({reason})"
    else:
        made.cached = _cached(_task(path, "cupy", arch, options) | {"backend": compiler}, folder)
    return made


def _packaged(path: Path, package: str, arch: str, options: tuple[str, ...], folder: Path) -> Made:
    made, task = Made(), _task(path, package, arch, options)
    cubin = _run(task | {"times": TIMES, "report": True, "result": str(folder / "cubin")}, folder)
    made.seconds, made.resources = cubin["seconds"], building.resources(cubin["log"])
    others = ("ptx", "fatbin") if package == "pycuda" else ("ptx", "ltoir")
    for target in others:
        if package == "cuda.core" and target == "ptx" and not toolchain.driver():
            made.missing["ptx"] = "it asks the driver before it makes PTX, and there is none"
        else:
            _run(task | {"target": target, "result": str(folder / target)}, folder)
    made.sizes = {name: (folder / name).stat().st_size for name in ("cubin", *others) if (folder / name).exists()}
    if package == "pycuda" and (reason := toolchain.missing("pycuda")):
        made.missing["cached"] = f"its cache needs pycuda.driver ({reason})"
        return made
    try:
        made.cached = _cached(task, folder)
    except NotOfferedError as refusal:
        made.missing["cached"] = str(refusal)
    return made


def _task(path: Path, package: str, arch: str, options: Sequence[str]) -> dict[str, Any]:
    return {
        "package": package,
        "name": path.name,
        "source": path.read_text(encoding="utf-8"),
        "folder": str(path.parent),
        "arch": arch,
        "options": list(options),
        "include_dirs": [str(folder) for folder in toolchain.include_dirs()],
        "nvcc": str(toolchain.nvcc()),
        "target": "cubin",
        "times": 1,
        "report": False,
        "cache": None,
        "result": None,
    }


def _run(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A fresh process for one task; its caches and temporary files lie in `folder`."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "fourways._build_process"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        env=lesson.process_environment() | first_result.cold_caches(folder) | {"TMPDIR": str(folder)} | _NO_CACHE,
    )
    answer = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {"error": done.stderr}
    if "not_offered" in answer:
        raise NotOfferedError(answer["not_offered"])
    if "error" in answer:
        words = answer["error"].replace("\0", "").strip()
        raise BuildError(f"{task['package']} could not compile {task['name']} for {task['arch']}:\n{words}")
    return answer


def _cached(task: dict[str, Any], folder: Path) -> list[float]:
    """Seconds of the same build in fresh processes, after one that fills the cache."""
    task |= {"cache": str(folder / "cache")}
    Path(task["cache"]).mkdir()
    _run(task, folder)
    return [_run(task, folder)["seconds"][0] for _ in range(TIMES)]


def _cmake(path: Path, _: str, arch: str, options: tuple[str, ...], folder: Path) -> Made:
    given = [f"-DCMAKE_CUDA_ARCHITECTURES={arch.removeprefix('sm_')}-real", f"-DCMAKE_CUDA_FLAGS={shlex.join(options)}"]
    try:
        made = Made([first_result.build_binding(path.stem, folder, options=given)])
        made.cached = [first_result.build_binding(path.stem, folder) for _ in range(TIMES)]
    except first_result.FirstResultError as error:
        words = str(error)
        if first := re.search("^(CMake Error|FAILED)", words, re.MULTILINE):
            words = words[first.start() :]  # before it stands what went well
        raise BuildError(f"cmake could not build the module with {path.stem} for {arch}:\n{words.strip()}") from None
    (module,) = folder.glob("fourways_aot*.so")
    made.sizes["module"] = module.stat().st_size
    made.missing["shared"] = "in the module the kilobyte counts that the system takes of each block from sm_90 on"
    made.missing["spill"] = "the module does not say which of its local memory is spills"
    tool = str(toolchain.program("cuobjdump"))
    subprocess.run([tool, "-xelf", "all", str(module)], cwd=folder, capture_output=True)
    made.sizes["cubin"] = sum(cubin.stat().st_size for cubin in folder.glob("*.cubin"))
    printed = subprocess.run([tool, "-res-usage", str(module)], capture_output=True, text=True).stdout
    for entry, registers, stack, shared in re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", printed):
        if entry in kernels.entry_points(path.read_text(encoding="utf-8")):
            made.resources[entry] = Resources(int(registers), int(shared), int(stack), 0, 0)
    return made
