"""Machines made of folders: toolkits with scripts for compilers and tiny libraries, to try the toolchain on."""

import subprocess
from pathlib import Path

PARTS = ("nvcc", "headers", "cccl")


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def header(path: Path, macro: str, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#define {macro} {number}\n")


def toolkit(root: Path, version: str = "13.0.88", parts: tuple[str, ...] = PARTS, below: str = "") -> Path:
    """A toolkit in `root`, or only `parts` of one; headers and libraries lie under `below` (conda's targets/...)."""
    major, minor = version.split(".")[:2]
    if "nvcc" in parts:
        nvcc = script(
            root / "bin" / "nvcc",
            f'case "$*" in *--dryrun*) echo "#\\$ TOP=$(dirname "$0")/.." >&2;;\n'
            f'*) echo "Cuda compilation tools, release {major}.{minor}, V{version}";; esac',
        )
        nvcc.with_name("nvcc.profile").write_text("TOP = $(_HERE_)/..\n")
    include = root / below / "include"
    if "headers" in parts:
        header(include / "cuda_runtime_api.h", "CUDART_VERSION", int(major) * 1000 + int(minor) * 10)
        header(include / "crt" / "host_defines.h", "__host__", 1)
    if "cccl" in parts:
        header(include / "cccl" / "cub" / "version.cuh", "CUB_VERSION", 300001)
        header(include / "cccl" / "cuda" / "std" / "__cccl" / "version.h", "CCCL_VERSION", 3000001)
    root.mkdir(parents=True, exist_ok=True)
    return root


def library(path: Path, code: str) -> Path:
    """A shared library compiled from C."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", str(path)], input=code, text=True, check=True)
    return path


DRIVER = """
#include <string.h>
#include <stddef.h>
int cuInit(unsigned flags) { return INIT; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int error, const char **name)
{
    *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, device ? "Fake B" : "Fake A", size); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? (device ? 12 : 9) : 0;
    return ATTRIBUTE;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)80 << 30; return 0; }
"""


def driver(path: Path, init: int = 0, attribute: int = 0) -> Path:
    """A libcuda with two GPUs, whose cuInit and cuDeviceGetAttribute return these error codes."""
    return library(path, DRIVER.replace("INIT", str(init)).replace("ATTRIBUTE", str(attribute)))
