"""The structs of DLPack that gpu_array.cpp declares, against the headers of CuPy and of cuda.core."""

import subprocess
import sysconfig
from pathlib import Path

import cuda.core
import cupy
import pybind11
import pytest

from fourways import toolchain

AOT = Path(__file__).parents[2] / "cpp" / "aot"
CUPYS = Path(cupy.__file__).parent / "_core" / "include" / "cupy" / "_dlpack" / "dlpack.h"
CUDA_CORES = Path(cuda.core.__file__).parent / "_include" / "dlpack.h"
TENSOR = {"data": "data", "device_type": "device", "ndim": "ndim", "code": "dtype", "shape": "shape"}
TENSOR |= {"strides": "strides", "byte_offset": "byte_offset"}
VERSIONED = {
    "major": "version",
    "context": "manager_ctx",
    "deleter": "deleter",
    "flags": "flags",
    "tensor": "dl_tensor",
}
EXCHANGE = {
    "major": "header.version",
    "previous": "header.prev_api",
    "managed": "managed_tensor_from_py_object_no_sync",
    "tensor": "dltensor_from_py_object_no_sync",
    "current_stream": "current_work_stream",
}


@pytest.mark.parametrize(
    ("header", "structs"),
    [
        (CUPYS, [("Tensor", "DLTensor", TENSOR), ("Versioned", "DLManagedTensorVersioned", VERSIONED)]),
        (CUDA_CORES, [("Exchange", "DLPackExchangeAPI", EXCHANGE)]),
    ],
    ids=["cupy", "cuda.core"],
)
def test_a_struct_has_the_layout_of_the_header(
    header: Path, structs: list[tuple[str, str, dict[str, str]]], tmp_path: Path
) -> None:
    text = header.read_text(encoding="utf-8")
    structs = [each for each in structs if each[1] in text]
    if not structs:
        pytest.skip(f"{header} has none of the structs")
    if not toolchain.host_compiler():
        pytest.skip(str(toolchain.missing("host compiler")))
    checks = [
        f"static_assert(offsetof(fourways::dlpack::{ours}, {a}) == offsetof({theirs}, {b}));"
        for ours, theirs, members in structs
        for a, b in members.items()
    ]
    checks += [
        f"static_assert(sizeof(fourways::dlpack::{ours}) == sizeof({theirs}));"
        for ours, theirs, _ in structs
        if ours != "Exchange"  # of which the end is not read
    ]
    (tmp_path / "layout.cpp").write_text("\n".join(['#include "gpu_array.cpp"', f'#include "{header}"', *checks]))
    folders = [AOT, *toolchain.include_dirs(), pybind11.get_include(), sysconfig.get_path("include")]
    words = [str(toolchain.host_compiler()), "-std=c++17", "-fsyntax-only", "-fvisibility=hidden"]
    done = subprocess.run(
        [*words, *(f"-I{each}" for each in folders), tmp_path / "layout.cpp"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
