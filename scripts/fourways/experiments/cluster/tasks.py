"""The tasks of a cluster's workers. None of them needs a GPU."""

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fourways import building, toolchain
from fourways.experiments.cluster.strips_process import launcher


class Parcel(NamedTuple):
    """A cubin to send to other workers: its architecture ("sm_90"), its code, and whether this call built it."""

    arch: str
    code: bytes
    built: bool


def own_cache() -> Path:
    """Return this worker's folder for compiled code, which is deleted with the worker."""
    from distributed import get_worker

    return Path(get_worker().local_directory) / "cubins"


def compile_cubin(source: str, arch: str, cache: Path | str | None = None) -> Parcel:
    """Return the cubin of `source` for `arch`, from the program cache in the folder `cache`, or compile by `cuda.core`.

    `cache` is by default a new, empty folder. Raises OSError, which names the folder, if it cannot be used, and what
    `cuda.core` raises if the source does not compile.
    """
    from cuda.core import Program, ProgramOptions
    from cuda.core.utils import FileStreamProgramCache, make_program_cache_key

    # on machines with a driver NVRTC has a cache of its own, which all workers of a machine would share
    options = ProgramOptions(arch=arch, no_cache=True)
    key = make_program_cache_key(code=source, code_type="c++", options=options, target_type="cubin")
    cache = cache or tempfile.mkdtemp(prefix="cold-", dir=own_cache().parent)
    try:
        with FileStreamProgramCache(cache) as known:
            if cached := known.get(key):
                return Parcel(arch, cached, built=False)
            code = Program(source, "c++", options).compile("cubin").code
            known[key] = code
    except OSError as problem:
        remedy = "name a folder that this worker can write, or compile once and send the cubin"
        raise OSError(f"the cache {cache} cannot be used ({problem.strerror}): {remedy}") from None
    return Parcel(arch, code, built=True)


def compile_by_nvrtc(source: str, arch: str) -> Parcel:
    """Ask NVRTC for the cubin of `source`, without a program cache: only NVRTC's own cache may have it already.

    NVRTC does not tell whether it compiled, so the parcel counts as built.
    """
    from cuda.core import Program, ProgramOptions

    return Parcel(arch, Program(source, "c++", ProgramOptions(arch=arch)).compile("cubin").code, built=True)


def compile_by_nvcc(path: Path | str, arch: str) -> Parcel:
    """Compile the kernel file `path` by nvcc, which has no cache. Raises `building.BuildError`."""
    return Parcel(arch, building.build(path, "nvcc", arch).code, built=True)


def accept(parcel: Parcel, arch: str) -> Parcel:
    """Return `parcel`, marked as not built here, if a GPU of `arch` ("sm_90") runs it, else raise ValueError."""
    if not toolchain.runs_on([parcel.arch], arch):
        raise ValueError(f"a cubin for {parcel.arch} came, and one that runs on {arch} is wanted: build for {arch}")
    return parcel._replace(built=False)


def step_on_gpu(parcel: Parcel, u: np.ndarray) -> np.ndarray:
    """Load a parcel's stencil on this worker's GPU, and return the plate `u` (float32, two dimensions) after a step."""
    import cupy as cp

    file = own_cache().with_suffix(".cubin")
    file.write_bytes(parcel.code)
    u_gpu = cp.asarray(u)
    v_gpu = cp.full_like(u_gpu, cp.nan)
    launcher(str(file))(u_gpu, v_gpu)
    return v_gpu.get()


def import_binding() -> Parcel:
    """Import `fourways_aot`, which holds the kernel as built ahead of time."""
    import fourways_aot

    return Parcel(" ".join(fourways_aot.built_for), b"", built=False)


def prepare() -> None:
    """Import what every plan needs, before the first build, so that no build includes these imports."""
    import cuda.core
    import cuda.core.utils
    from cuda.bindings import nvrtc

    nvrtc.nvrtcVersion()  # loads the library
    assert cuda.core
