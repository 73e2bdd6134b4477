"""All that one compiler makes of one kernel: seconds cold and cached, bytes, resources."""

import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fourways import kernels, toolchain
from fourways.building import packages, resources
from fourways.building.cmake import build_binding
from fourways.building.compile import OUTPUTS, BuildError, build, with_advice
from fourways.building.packages import TIMES, NotOfferedError
from fourways.building.resources import Resources

ALL_COMPILERS = ("nvrtc", "nvcc", "pycuda", "cuda.core", "cmake")
ARTEFACTS = ("cubin", "ptx", "ltoir", "fatbin", "module")


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
    """Build the kernel file `path` by one of ALL_COMPILERS for `arch` ("sm_90") with `options`, and build it again.

    Raises ValueError for another compiler, NotOfferedError where this one cannot build this kernel here, BuildError
    with the compiler's own words, and one line of advice, where it refuses.
    """
    if compiler not in ALL_COMPILERS:
        raise ValueError(f"no compiler {compiler!r}; there are: {', '.join(ALL_COMPILERS)}")
    if reason := unavailable(compiler, Path(path)):
        raise NotOfferedError(reason)
    # PyCUDA and CMake run nvcc in folders of their own
    options = [f"-I{Path(word[2:]).absolute()}" if word.startswith("-I") else word for word in options]
    maker = {"nvrtc": _direct, "nvcc": _direct, "cmake": _cmake}.get(compiler, _packaged)
    try:
        with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
            return maker(Path(path).resolve(), compiler, arch, tuple(options), Path(folder))
    except BuildError as error:
        raise BuildError(with_advice(str(error))) from None


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
    outputs = [output for output in OUTPUTS if output != "fatbin" or compiler == "nvcc"]
    builds = {output: build(path, compiler, arch, output, options) for output in outputs}
    cubin = builds["cubin"]
    again = [build(path, compiler, arch, options=options) for _ in range(TIMES - 1)]
    made = Made([each.seconds for each in (cubin, *again)], resources=cubin.resources)
    made.sizes = {output: len(built.code) for output, built in builds.items()}
    gpus = {gpu.arch for gpu in toolchain.gpus()}
    reason = toolchain.missing(compiler) or ("" if arch in gpus else f"this machine's GPU is {', '.join(gpus)}")
    if reason:
        made.missing["cached"] = f"the compiler keeps no cache; CuPy's needs a GPU ({reason})"
    else:
        made.cached = packages.cached(packages.task_of(path, "cupy", arch, options) | {"backend": compiler}, folder)
    return made


def _packaged(path: Path, package: str, arch: str, options: tuple[str, ...], folder: Path) -> Made:
    made, task = Made(), packages.task_of(path, package, arch, options)
    cubin = packages.run(task | {"times": TIMES, "report": True, "result": str(folder / "cubin")}, folder)
    made.seconds, made.resources = cubin["seconds"], resources.of_log(cubin["log"])
    others = ("ptx", "fatbin") if package == "pycuda" else ("ptx", "ltoir")
    for target in others:
        if package == "cuda.core" and target == "ptx" and not toolchain.driver():
            made.missing["ptx"] = "it asks the driver before it makes PTX, and there is none"
        else:
            packages.run(task | {"target": target, "result": str(folder / target)}, folder)
    made.sizes = {name: (folder / name).stat().st_size for name in ("cubin", *others) if (folder / name).exists()}
    if package == "pycuda" and (reason := toolchain.missing("pycuda")):
        made.missing["cached"] = f"its cache needs pycuda.driver ({reason})"
        return made
    try:
        made.cached = packages.cached(task, folder)
    except NotOfferedError as refusal:
        made.missing["cached"] = str(refusal)
    return made


def _cmake(path: Path, _: str, arch: str, options: tuple[str, ...], folder: Path) -> Made:
    given = [f"-DCMAKE_CUDA_ARCHITECTURES={arch.removeprefix('sm_')}-real", f"-DCMAKE_CUDA_FLAGS={shlex.join(options)}"]
    try:
        made = Made([build_binding(path.stem, folder, options=given)])
        made.cached = [build_binding(path.stem, folder) for _ in range(TIMES)]
    except BuildError as error:
        words = str(error)
        if first := re.search("^(CMake Error|FAILED)", words, re.MULTILINE):
            words = words[first.start() :]  # before it stands what went well
        raise BuildError(f"cmake could not build the module with {path.stem} for {arch}:\n{words.strip()}") from None
    (module,) = folder.glob("fourways_aot*.so")
    made.sizes["module"] = module.stat().st_size
    made.missing["shared"] = "in the module the kilobyte counts that the system takes of each block from sm_90 on"
    made.missing["spill"] = "the module does not say which of its local memory is spills"
    subprocess.run([str(toolchain.program("cuobjdump")), "-xelf", "all", str(module)], cwd=folder, capture_output=True)
    made.sizes["cubin"] = sum(cubin.stat().st_size for cubin in folder.glob("*.cubin"))
    ours = kernels.parameters(path.read_text(encoding="utf-8"))
    made.resources = {name: needs for name, needs in resources.of_code(module).items() if name in ours}
    return made
