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
MEMBERS = {  # ours and theirs
    ("Tensor", "DLTensor"): "data:data device_type:device ndim:ndim code:dtype shape:shape strides:strides"
    " byte_offset:byte_offset",
    ("Versioned", "DLManagedTensorVersioned"): "major:version context:manager_ctx deleter:deleter flags:flags"
    " tensor:dl_tensor",
    ("Exchange", "DLPackExchangeAPI"): "major:header.version previous:header.prev_api"
    " managed:managed_tensor_from_py_object_no_sync tensor:dltensor_from_py_object_no_sync"
    " current_stream:current_work_stream",
}


@pytest.mark.parametrize("header", [CUPYS, CUDA_CORES], ids=["cupy", "cuda.core"])
def test_each_struct_has_the_layout_of_the_header(header: Path, tmp_path: Path) -> None:
    compiler = toolchain.host_compiler() or pytest.skip(str(toolchain.missing("host compiler")))
    text, checks = header.read_text(encoding="utf-8"), []
    for (ours, theirs), members in MEMBERS.items():
        if theirs in text:
            pairs = (pair.split(":") for pair in members.split())
            checks += [f"offsetof(fourways::dlpack::{ours}, {a}) == offsetof({theirs}, {b})" for a, b in pairs]
            if ours != "Exchange":  # of which the end is not read
                checks.append(f"sizeof(fourways::dlpack::{ours}) == sizeof({theirs})")
    assert checks
    lines = ['#include "gpu_array.cpp"', f'#include "{header}"', *(f"static_assert({check});" for check in checks)]
    (tmp_path / "layout.cpp").write_text("\n".join(lines))
    folders = [AOT, *toolchain.include_dirs(), pybind11.get_include(), sysconfig.get_path("include")]
    words = [str(compiler), "-std=c++17", "-fsyntax-only", "-fvisibility=hidden", *(f"-I{each}" for each in folders)]
    done = subprocess.run([*words, tmp_path / "layout.cpp"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
