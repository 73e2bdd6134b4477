"""A number for a parameter: the one rule, where it converts and where it must hand over what came."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from argument_cases import ROWS, Row

from fourways import arguments, host, kernels, toolchain

NAMES = [f"{type(row.value).__name__} {row.value} for {row.dtype}" for row in ROWS]
TYPES = {
    "bool": "bool",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_number_is_converted_or_refused(row: Row) -> None:
    dtype = np.dtype(row.dtype)
    if isinstance(row.converted, type):
        with pytest.raises(row.converted, match=f"came; .* {dtype}, is wanted|came; .*is wanted"):
            arguments.number(dtype, row.value)
    else:
        got = arguments.number(dtype, row.value)
        assert got.dtype == dtype and got == row.converted


@pytest.fixture(scope="module")
def taking(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Host kernels `take_int32` and so on, each of which writes the number that it is given."""
    if reason := toolchain.missing("host compiler"):
        pytest.skip(reason)
    file = tmp_path_factory.mktemp("arguments") / "take.cu"
    kernel = 'extern "C" __global__ void take_{0}({1} number, {1} *out) {{ *out = number; }}\n'
    file.write_text("".join(kernel.format(dtype, c_type) for dtype, c_type in TYPES.items()))
    return host.compile(file)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_host_way_takes_what_cupy_hands_over(taking: Any, row: Row) -> None:
    take, out = taking.get_function(f"take_{row.dtype}"), np.zeros(1, row.dtype)
    if row.unchecked:
        take((1,), (1,), (row.value, out))
        assert out[0] == row.converted
    else:
        with pytest.raises((TypeError, ValueError), match=f"take_{row.dtype}, argument 1 of 2: "):
            take((1,), (1,), (row.value, out))


def test_a_number_on_the_gpu_is_named_with_its_remedy() -> None:
    with pytest.raises(TypeError, match=r"an array of float32 came; .* \(.item\(\) fetches it\)"):
        arguments.number(np.dtype("float32"), SimpleNamespace(shape=(), dtype=np.dtype("float32")))


def test_none_is_named_as_itself() -> None:
    with pytest.raises(TypeError, match="^None came; "):
        arguments.number(np.dtype("float32"), None)


@pytest.mark.parametrize("value", [np.zeros((), "V12"), np.zeros(1, "V16"), 16, np.array(None)])
def test_a_struct_has_its_size_and_no_dimensions(value: Any) -> None:
    parameter = kernels.Parameter("range", "Range", "struct", 16, 8, None)
    with pytest.raises(TypeError, match="Range of 16 bytes is wanted"):
        arguments.struct(parameter, value)
    assert arguments.struct(parameter, np.zeros((), "V16")).nbytes == 16
