"""A kernel that keeps a stream busy until the test opens it: what runs meanwhile needs no clock to be seen."""

from pathlib import Path
from typing import Any

import numpy as np

_KERNEL = Path(__file__).with_name("gpu").joinpath("gate.cu").read_text(encoding="utf-8")
_LIMIT = 20_000_000_000  # nanoseconds after which a test fails rather than hangs


class Gate:
    """Work queued after it on CuPy's current stream waits until `open` is called."""

    def __init__(self) -> None:
        import cupy
        import cupyx

        self._open = cupyx.zeros_pinned(1, np.int32)  # memory of the host that the GPU reads, too
        self._opened: Any = cupy.zeros(1, np.int32)
        cupy.cuda.Device().synchronize()
        address = np.uint64(self._open.ctypes.data)
        cupy.RawKernel(_KERNEL, "gate")((1,), (1,), (address, np.int64(_LIMIT), self._opened))

    def open(self) -> None:
        self._open[0] = 1

    @property
    def was_opened(self) -> bool:
        """Whether the kernel saw `open` before it gave up. This waits for the kernel on the current stream."""
        return bool(self._opened.get()[0])
