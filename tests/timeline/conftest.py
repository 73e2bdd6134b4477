"""A machine with a GPU, played: in fresh processes CUPTI reports what it is told to."""

from pathlib import Path

import pytest

from fourways import tables, toolchain


def row(kind: str, name: str, start: float, seconds: float, **more: object) -> tables.Row:
    clock = "device" if kind in ("kernel", "copy") else "host"
    more |= {"stream": 7} if clock == "device" else {}
    return {"kind": kind, "name": name, "clock": clock, "start_seconds": start, "seconds": seconds, **more}


@pytest.fixture
def rows() -> list[tables.Row]:
    """Synthetic: written by hand, in the order of size that an H200 shows; no run of anything."""
    launch = {"grid": [262144, 1, 1], "block": [256, 1, 1], "registers": 16}
    kernels = [row("kernel", "doublify", 0.91 + i * 130e-6, 128e-6, **launch) for i in range(10)]
    return [
        row("NVTX range", "import", 0.1, 0.3),
        row("NVTX range", "context", 0.4, 0.07),
        row("NVTX range", "import", 0.48, 0.02),
        row("NVTX range", "inputs", 0.5, 0.35),
        row("copy", "host to device", 0.7, 0.04, bytes=2**28),
        row("NVTX range", "build", 0.85, 0.05),
        row("NVTX range", "load", 0.88, 0.01),
        row("NVTX range", "warm launches", 0.9099, 0.0015),
        *[row("API call", "cuLaunchKernel", 0.9099 + i * 6e-6, 4e-6, thread=0) for i in range(10)],
        row("API call", "cudaDeviceSynchronize", 0.91001, 0.0014, thread=0),
        row("synchronization", "context synchronize", 0.91002, 0.0013),
        *kernels,
        row("NVTX range", "copy back", 0.912, 0.03),
        row("copy", "device to host", 0.9125, 0.02, bytes=2**28),
    ]


CUPTI = """
import itertools
import pkgutil
from types import SimpleNamespace

__path__ = pkgutil.extend_path(__path__, __name__)
from cupti import cupti  # the real one, whose own functions need a driver

records, clock = [], itertools.count(1_795_252_551_729_141_990, 1000)  # ns


def record(kind, **fields):
    records.append(SimpleNamespace(kind=int(cupti.ActivityKind[kind]), **fields))


def took(kind, **fields):
    record(kind, start=next(clock), end=next(clock), **fields)


def kernel(name, **fields):
    grid_and_block = {f"{what}_{axis}": 2 for what in ("grid", "block") for axis in "xyz"}
    took("CONCURRENT_KERNEL", name=name, stream_id=7, registers_per_thread=16, **grid_and_block, **fields)


def begin(name, number):
    record("MARKER", flags_=int(cupti.ActivityFlag.MARKER_START), id=number, timestamp=next(clock), name=name)


def end(number):
    record("MARKER", flags_=4, id=number, timestamp=next(clock))  # CUPTI_ACTIVITY_FLAG_MARKER_END


names = {
    ("RUNTIME_API", 1): "cudaFree_v3020",
    ("RUNTIME_API", 2): "cudaProfilerStart_v4000",
    ("RUNTIME_API", 3): "cudaProfilerStop_v4000",
    ("DRIVER_API", 307): "cuLaunchKernel",
}
cupti.activity_enable = lambda kind: None
cupti.activity_register_callbacks = lambda request, take: setattr(cupti, "take", take)
cupti.activity_flush_all = lambda flag: cupti.take(records)
cupti.get_callback_name = lambda domain, number: names[domain.name, number]
"""


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which fresh processes import first. What they `record` there, CUPTI seems to have seen."""
    pytest.importorskip("cupti.cupti", reason="cupti-python is not installed: make setup")
    (tmp_path / "cupti").mkdir()
    (tmp_path / "cupti" / "__init__.py").write_text(CUPTI)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: "not here" if need == "nvcc" else None)
    return tmp_path
