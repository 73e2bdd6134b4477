"""The artefacts that a compiler makes of a kernel: their bytes, their build times cold and cached, their resources."""

import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fourways import kernels, toolchain
from fourways.building import packages, resources
from fourways.building.cmake import build_binding
from fourways.building.compile import COMPILERS, BuildError, build
from fourways.building.packages import TIMES, NotOfferedError
from fourways.building.resources import Resources

ALL_COMPILERS = ("nvrtc", "nvcc", "pycuda", "cuda.core", "cmake")
ARTEFACTS = ("cubin", "ptx", "ltoir", "fatbin", "module")
Binding = Callable[[Path, Sequence[str]], float]


@dataclass
class Made:
    """The artefacts of a kernel by one compiler for one architecture.

    `seconds` (cold) and `cached` are samples of the host's clock. `sizes` are bytes by artefact, `resources` are by
    entry point. `missing` gives the reasons for missing values: "cached", an artefact, or a resource ("shared").
    """

    seconds: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    resources: dict[str, Resources] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


Maker = Callable[[Path, str, Sequence[str], Path], Made]
"""A function that builds a kernel file for an architecture ("sm_90") with compiler options, in a folder."""


def make(
    path: Path | str,
    compiler: str,
    arch: str,
    options: Sequence[str] = (),
    binding: Binding | None = None,
    own: Mapping[str, Maker] = {},
) -> Made:
    """Build the kernel file `path` by one of ALL_COMPILERS for `arch` ("sm_90") with `options`, and build it again.

    `binding(folder, options)` builds the extension module of a kernel outside of cpp/kernels with CMake's options, and
    returns its seconds. `own` holds further compilers by name.

    Raises ValueError for an unknown compiler, NotOfferedError if the compiler cannot build this kernel on this
    machine, and BuildError with the compiler's message if it refuses the kernel.
    """
    if compiler not in (known := [*ALL_COMPILERS, *own]):
        raise ValueError(f"no compiler {compiler!r}; there are: {', '.join(known)}")
    if reason := _unavailable(compiler, Path(path), bool(binding)):
        raise NotOfferedError(reason)
    # PyCUDA and CMake run nvcc in folders of their own
    options = [f"-I{Path(word[2:]).absolute()}" if word.startswith("-I") else word for word in options]
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        if compiler in own:
            return own[compiler](Path(path).resolve(), arch, options, Path(folder))
        if compiler == "cmake":
            return _cmake(Path(path).resolve(), arch, options, Path(folder), binding)
        maker = _direct if compiler in COMPILERS else _packaged
        return maker(Path(path).resolve(), compiler, arch, options, Path(folder))


def _unavailable(compiler: str, path: Path, has_binding: bool) -> str:
    """Return why `compiler` cannot build the kernel file `path` on this machine, or ""."""
    if compiler == "pycuda" and (absent := toolchain.missing("pycuda")):
        return absent
    if compiler in ("nvcc", "pycuda", "cmake") and not toolchain.nvcc():
        return toolchain.NO_NVCC
    if compiler == "cmake":
        if not toolchain.program("cuobjdump"):
            return f"no cuobjdump found, which looks into the module: {toolchain.SETUP}"
        cpp = kernels.root() / "cpp"
        if has_binding:
            return ""
        if path.resolve().parent != cpp / "kernels":
            return f"the module holds kernels of cpp/kernels alone; for {path.name} a case makes one: --case my_case.py"
        if not (cpp / "aot" / f"{path.stem}.cu").is_file():
            return f"there is no cpp/aot/{path.stem}.cu that launches this kernel"
    return ""


def _direct(path: Path, compiler: str, arch: str, options: Sequence[str], folder: Path) -> Made:
    cubins = [build(path, compiler, arch, options=options) for _ in range(TIMES)]
    made = Made([cubin.seconds for cubin in cubins], resources=cubins[0].resources)
    made.sizes["cubin"] = len(cubins[0].code)
    for output in ("ptx", "ltoir", "fatbin") if compiler == "nvcc" else ("ptx", "ltoir"):
        made.sizes[output] = len(build(path, compiler, arch, output, options).code)
    gpus = sorted({gpu.arch for gpu in toolchain.gpus()})
    if reason := toolchain.missing("gpu") or toolchain.missing("cupy"):
        made.missing["cached"] = f"only CuPy caches these builds, and it needs a GPU ({reason})"
    elif arch not in gpus:
        made.missing["cached"] = f"only CuPy caches these builds, and for this machine's GPU alone ({', '.join(gpus)})"
    else:
        made.cached = packages.cached(packages.task_of(path, "cupy", arch, options) | {"backend": compiler}, folder)
    return made


def _packaged(path: Path, package: str, arch: str, options: Sequence[str], folder: Path) -> Made:
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
    if package == "pycuda" and (reason := toolchain.missing("gpu")):
        made.missing["cached"] = f"its cache needs pycuda.driver ({reason})"
        return made
    try:
        made.cached = packages.cached(task, folder)
    except NotOfferedError as refusal:
        made.missing["cached"] = str(refusal)
    return made


def _cmake(path: Path, arch: str, options: Sequence[str], folder: Path, binding: Binding | None) -> Made:
    binding = binding or (lambda folder, options: build_binding(path.stem, folder, options=options))
    given = [f"-DCMAKE_CUDA_ARCHITECTURES={arch.removeprefix('sm_')}-real", f"-DCMAKE_CUDA_FLAGS={shlex.join(options)}"]
    try:
        made = Made([binding(folder, given)])
    except BuildError:
        raise
    except RuntimeError as refusal:  # from a case's package
        raise BuildError("CMake could not build the module", str(refusal)) from None
    made.cached = [binding(folder, ()) for _ in range(TIMES)]
    (module,) = folder.glob("*.so")
    made.sizes["module"] = module.stat().st_size
    made.missing["shared"] = "in the module the kilobyte counts that the system takes of each block from sm_90 on"
    made.missing["spill"] = "the module does not say which of its local memory is spills"
    subprocess.run([str(toolchain.program("cuobjdump")), "-xelf", "all", str(module)], cwd=folder, capture_output=True)
    made.sizes["cubin"] = sum(cubin.stat().st_size for cubin in folder.glob("*.cubin"))
    ours = kernels.parameters(path.read_text(encoding="utf-8"))
    made.resources = {name: needs for name, needs in resources.of_code(module).items() if name in ours}
    return made
