"""A compiled file and its kernels, called as CuPy's `RawModule` and `RawKernel` are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fourways import kernels
from fourways.host.launch import SHARED_BYTES, check_arguments, check_shape
from fourways.host.process import Launch, Process
from fourways.kernels import Declared, Limits


class HostKernel:
    """A kernel that runs on NumPy arrays; `signature` is its `kernels.Signature`.

    `max_dynamic_shared_size_bytes` is the most that a launch may ask for: set it, as on CuPy's kernels, for more.
    """

    launches: ClassVar[int] = 0
    """How many launches this process has asked for."""

    def __init__(self, signature: kernels.Signature, number: int, process: Process, timeout: int):
        self.name, self.signature = signature.entry, signature
        self._number, self._process, self._timeout = number, process, timeout
        self.max_dynamic_shared_size_bytes = SHARED_BYTES

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Launch it and wait: grid and block are tuples of one to three numbers, `shared_mem` is in bytes.

        A pointer takes a C-contiguous array of its dtype, a scalar NumPy's scalar of that dtype (an integer: also int).
        Raises TypeError or ValueError that name the argument, before anything runs; KernelError, where a thread touches
        what is not in its arrays, divides by zero, aborts, finds no end, cannot be started, or never meets its warp;
        SanitizerError. After an error no array has changed, and the module's own variables are as before.
        """
        limits = self.signature.limits
        shape = check_shape(grid, block, shared_mem, limits, self.max_dynamic_shared_size_bytes)
        values = check_arguments(self.signature, args)
        HostKernel.launches += 1
        variables = self._process.memory
        launch = Launch(self.signature, self._number, shape, int(shared_mem), self._timeout, values, variables)
        self._process.launch(launch)


class HostModule:
    """The compiled kernels of one file: `path`, and their `names`."""

    def __init__(
        self,
        path: Path,
        listed: Mapping[str, Declared],
        refused: Mapping[str, Exception],
        process: Process,
        timeout: int,
    ):
        self.path, self.names = path, list(listed)
        self._listed, self._refused, self._process, self._timeout = listed, refused, process, timeout

    def get_function(self, name: str) -> HostKernel:
        """The kernel `name`. Raises ValueError, naming those there are, if there is no such kernel.

        Raises CompileError or ValueError for a kernel that the compiler refused while it took another one of the file.
        """
        if name in self._refused:
            raise self._refused[name]
        if name not in self.names:
            raise ValueError(f"no kernel {name!r} in {self.path.name}; there are: {', '.join(self.names)}")
        number = self.names.index(name)
        told, _, limits = self._process.told[number].partition("\t")
        threads, *cluster = map(int, limits.split())
        signature = replace(
            kernels.signature(name, told, self._listed[name].written),
            limits=Limits(threads, cluster=tuple(cluster) if cluster[0] else ()),
        )
        return HostKernel(signature, number, self._process, self._timeout)

    def get_global(self, name: str) -> np.ndarray:
        """The bytes of a `__constant__` or `__device__` variable, as an array of uint8 that can be written.

        `np.ndarray(4, np.float32, module.get_global("taps"))[:] = taps` fills `__constant__ float taps[4]`, as
        `cupy.ndarray` with CuPy's `get_global` does. Each launch takes the bytes along and brings them back. Raises
        ValueError, naming those there are, if there is no such variable.
        """
        variables = self._process.variables
        if name not in variables:
            there = ", ".join(variables) or "none"
            raise ValueError(f"no variable {name!r} in {self.path.name} that can be written; there are: {there}")
        return variables[name]
