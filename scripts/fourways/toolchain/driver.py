"""The NVIDIA driver, its GPUs, and which code runs on which GPU.

The driver is asked through ctypes: fast, without a CUDA context and without CuPy.
"""

import ctypes
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ARCHITECTURES = ("75", "80", "86", "89", "90", "100", "120")
"""The architectures of `--arch all`, from Turing to Blackwell."""

DRIVER_LIBRARY = "libcuda.so.1"
DRIVER_FILE = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class Gpu:
    """A GPU, with `compute_capability` as "9.0" and `arch` as "sm_90"."""

    name: str
    compute_capability: str
    arch: str
    memory_bytes: int


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver: its version ("580.159.04"), its newest CUDA version ("13.0"), and its error if it has one."""

    version: str | None
    cuda: str
    problem: str | None = None


def driver() -> Driver | None:
    """Return the NVIDIA driver, or None if there is none."""
    return _ask_driver(DRIVER_LIBRARY)[0]


def gpus() -> list[Gpu]:
    """Return the GPUs that the driver shows to this process. Creates no CUDA context."""
    return list(_ask_driver(DRIVER_LIBRARY)[1])


def gpu_arch() -> str:
    """Return the architecture of the first GPU, else "sm_90"."""
    return next((gpu.arch for gpu in gpus()), "sm_90")


@functools.cache
def _ask_driver(library: str) -> tuple[Driver | None, tuple[Gpu, ...]]:
    number = ctypes.c_int()
    try:
        cuda = ctypes.CDLL(library)
        if cuda.cuInit(0) == 34 or cuda.cuDriverGetVersion(ctypes.byref(number)):  # 34: a stub for linking, no driver
            return None, ()
    except (OSError, AttributeError):
        return None, ()
    told = Driver(_driver_version(), cuda_version(number.value))
    try:
        return told, tuple(_devices(cuda))
    except (OSError, AttributeError) as error:
        return replace(told, problem=str(error)), ()


def _devices(cuda: ctypes.CDLL) -> Iterator[Gpu]:
    def call(function: str, *arguments: object) -> None:
        if error := getattr(cuda, function)(*arguments):
            name = ctypes.c_char_p()
            cuda.cuGetErrorName(error, ctypes.byref(name))
            raise OSError(f"{function}: {name.value.decode() if name.value else f'error {error}'}")

    def number(function: str, *arguments: int, kind: type = ctypes.c_int) -> int:
        value = kind()
        call(function, ctypes.byref(value), *arguments)
        return int(value.value)

    call("cuInit", 0)
    for index in range(number("cuDeviceGetCount")):
        device = number("cuDeviceGet", index)
        name = ctypes.create_string_buffer(256)
        call("cuDeviceGetName", name, len(name), device)
        major, minor = (number("cuDeviceGetAttribute", attribute, device) for attribute in (75, 76))
        memory = number("cuDeviceTotalMem_v2", device, kind=ctypes.c_size_t)
        yield Gpu(name.value.decode(), f"{major}.{minor}", f"sm_{major}{minor}", memory)


def _driver_version() -> str | None:
    """Return the driver's version, as the kernel module says it, or NVML if a container hides the module."""
    if DRIVER_FILE.is_file() and (match := re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", DRIVER_FILE.read_text())):
        return match[1]
    try:
        management = ctypes.CDLL("libnvidia-ml.so.1")
        text = ctypes.create_string_buffer(96)
        management.nvmlInit_v2()
        return text.value.decode() if management.nvmlSystemGetDriverVersion(text, len(text)) == 0 else None
    except (OSError, AttributeError):
        return None


def cuda_version(number: int) -> str:
    """Return CUDA's version number as text: 13000 is "13.0"."""
    return f"{number // 1000}.{number % 1000 // 10}"


def architectures(names: Sequence[str]) -> list[str]:
    """Return `["sm_90", ...]` for names such as `90` and `sm_90`, without repetitions; `all` means ARCHITECTURES."""
    every = [each for name in names for each in (ARCHITECTURES if name == "all" else [name])]
    return list(dict.fromkeys(f"sm_{arch.removeprefix('sm_')}" for arch in every))


def runs_on(holds: Iterable[str], arch: str) -> bool:
    """Return whether a GPU of `arch` ("sm_90") runs one of the codes in `holds`.

    Machine code is written "sm_90", PTX "compute_90". Machine code runs on its own minor version and on newer ones of
    the same major version. PTX runs on every newer GPU. Code for "90a" runs on 9.0 alone.
    Source: NVIDIA, CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility".
    """
    device = int(arch.removeprefix("sm_"))
    for code in holds:
        oldest = int(re.sub(r"\D", "", code))
        if code.endswith("a"):
            newest = oldest
        elif code.startswith("compute") and not code.endswith("f"):
            newest = max(oldest, device)
        else:
            newest = oldest // 10 * 10 + 9
        if oldest <= device <= newest:
            return True
    return False
