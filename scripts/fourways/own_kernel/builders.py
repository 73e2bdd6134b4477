"""Builds a kernel of the reader's own in each way, as a function of grid, block, shared bytes and arguments.

The arguments are arrays where the way wants them and NumPy scalars, in the kernel's order.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fourways import building, host, kernels, toolchain
from fourways.kernels import Limits

Kernel = Callable[[tuple, tuple, int, Sequence[Any]], None]
Launch = tuple[tuple[int, ...], tuple[int, ...], int]
"""Grid and block, three numbers each, and bytes of dynamic shared memory."""


class Source(NamedTuple):
    """What the ways compile: a kernel's file, and the text that stands for it, which keeps a template's instance.

    `symbol` is the kernel's name in NVRTC's machine code, `instance` the name by which the host way finds a kernel that
    is not extern "C". `alignments` are the parameters'. `timeout` is in seconds, for a launch by the host way.
    """

    path: Path
    code: str
    symbol: str
    instance: str | None
    options: tuple[str, ...]
    constants: Mapping[str, np.ndarray]
    alignments: tuple[int, ...]
    timeout: int

    @property
    def all_options(self) -> list[str]:
        """The options for a compiler that does not know the file's folder."""
        return [f"-I{self.path.parent}", *self.options]

    def named_by(self, compiler: str) -> str:
        """Return the kernel's name in the machine code of NVRTC or nvcc. Raises BuildError where the latter refuses."""
        if compiler == "nvrtc" or not self.instance:
            return self.symbol
        return building.symbol(self.path, self.instance, self.options, compiler)

    def file(self, folder: Path) -> Path:
        """Return a file of `code`: the kernel's own, or one in `folder`, which keeps a template's instance."""
        if self.code == kernels.text_of(self.path):
            return self.path
        written = folder / self.path.name
        written.write_text(self.code, encoding="utf-8")
        return written


def shape(given: Any, limits: Limits) -> Launch:
    """Return what a case's `launch` returns as three numbers each. Raises TypeError or ValueError where it cannot be.

    `limits` are those that the kernel declares.
    """
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        raise TypeError(f"{given!r} came; return grid, block and, if any, bytes of shared memory")
    grid, block = (each if isinstance(each, tuple) else (each,) for each in given[:2])
    shared = given[2] if len(given) == 3 else 0
    numbers = host.check_shape(grid, block, shared, limits)
    return tuple(numbers[:3]), tuple(numbers[3:]), int(shared)


def by_cupy(source: Source, backend: str) -> Kernel:
    """Build `cupy.RawModule`, whose compiler is `backend`."""
    import cupy

    module = cupy.RawModule(code=source.code, backend=backend, options=tuple(source.all_options))
    kernel = module.get_function(source.named_by(backend))
    for name, array in source.constants.items():
        cupy.ndarray(array.nbytes, np.uint8, module.get_global(in_machine_code(name))).set(octets(array))

    def call(grid: tuple, block: tuple, shared: int, arguments: Sequence[Any]) -> None:
        if shared > host.SHARED_BYTES:
            kernel.max_dynamic_shared_size_bytes = shared
        # CuPy passes an array without dimensions by value
        taken = tuple(np.asarray(value) if isinstance(value, np.void) else value for value in arguments)
        kernel(grid, block, taken, shared_mem=shared)

    return call


def by_pycuda(source: Source) -> Kernel:
    """Build PyCUDA's `SourceModule`, in the context that CuPy uses."""
    import cupy
    import pycuda.autoprimaryctx  # noqa: F401  # shares CuPy's context
    from pycuda import driver
    from pycuda.compiler import SourceModule

    module = SourceModule(source.code, no_extern_c=True, options=source.all_options)
    kernel = module.get_function(source.named_by("nvcc"))
    for name, array in source.constants.items():
        driver.memcpy_htod(module.get_global(in_machine_code(name))[0], octets(array))

    def packed(arguments: Sequence[Any]) -> np.void:
        """The arguments' bytes, each where CUDA wants it: PyCUDA leaves no gap before a struct."""
        whole = b""
        for value, alignment in zip(arguments, source.alignments, strict=True):
            value = np.uint64(value.data.ptr) if isinstance(value, cupy.ndarray) else value
            whole += bytes(-len(whole) % alignment) + value.tobytes()
        return np.void(whole)

    def call(grid: tuple, block: tuple, shared: int, arguments: Sequence[Any]) -> None:
        if shared > host.SHARED_BYTES:
            kernel.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        kernel(packed(arguments), grid=grid, block=block, shared=shared)

    return call


def by_host(source: Source) -> Kernel:
    """Compile the kernel for the CPU."""
    options = tuple(option for option in source.options if option[:2] in ("-D", "-I", "-U"))
    module = host.compile(
        source.path, options, timeout=source.timeout, name_expressions=(source.instance,) if source.instance else ()
    )
    kernel = module.get_function(source.instance or source.symbol)
    for name, array in source.constants.items():
        module.get_global(name)[: array.nbytes] = octets(array)

    def call(grid: tuple, block: tuple, shared: int, arguments: Sequence[Any]) -> None:
        kernel.max_dynamic_shared_size_bytes = max(shared, host.SHARED_BYTES)
        kernel(grid, block, tuple(arguments), shared_mem=shared)

    return call


BUILDERS: dict[str, Callable[[Source], Kernel]] = {
    "nvrtc": lambda source: by_cupy(source, "nvrtc"),
    "nvcc": lambda source: by_cupy(source, "nvcc"),
    "pycuda": by_pycuda,
    "host": by_host,
}
"""The builder of each way that calls a kernel of one's own. `fourways package` makes a module of it by pybind11."""


def on_a_gpu(source: Source) -> tuple[str, bool]:
    """Say in one line whether NVRTC and nvcc compile the kernel for this machine's GPU, or for sm_90; and does one?"""
    arch, takes, said = toolchain.gpu_arch(), [], []
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        for compiler in building.COMPILERS:
            name = compiler.replace("nvrtc", "NVRTC")
            try:
                building.build(source.file(Path(folder)), compiler, arch, options=source.all_options)
            except building.BuildError as error:
                said.append(f"{name} does not: {error.brief.rstrip('.')}")
            else:
                takes.append(name)
    verb = "compile" if takes[1:] else "compiles"
    return "; ".join([f"{' and '.join(takes) or 'No compiler'} {verb} it for {arch}", *said]) + ".", bool(takes)


def in_machine_code(name: str) -> str:
    """Return the symbol of a module's variable: `taps` is itself, `lab::taps` is mangled."""
    parts = name.split("::")
    return name if len(parts) == 1 else f"_ZN{''.join(f'{len(part)}{part}' for part in parts)}E"


def octets(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array's bytes."""
    return np.frombuffer(array.tobytes(), np.uint8)
