"""Numbers and structs given to a parameter: the host way takes what CuPy's launch hands over, and nothing else."""

from typing import Any

import numpy as np
import pytest

from fourways import host, toolchain

TYPES = {
    "bool": "bool",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
TAKEN: list[tuple[str, Any]] = [
    ("int32", np.int32(-5)),
    ("int32", 2**31 - 1),
    ("uint8", 255),
    ("uint64", 2**64 - 1),
    ("float32", np.float32(1.5)),
    ("float64", 1.5),
    ("bool", np.bool_(False)),
]
REFUSED: list[tuple[str, Any]] = [
    ("int32", np.int64(5)),
    ("int32", 2**31),
    ("int32", True),
    ("int32", 2.0),
    ("int32", "5"),
    ("int32", None),
    ("uint8", 256),
    ("float32", 1 / 3),
    ("float32", np.float64(1.5)),
    ("float32", float("inf")),
    ("float32", 10**400),
    ("bool", 1),
]
KERNELS = "".join(
    f'extern "C" __global__ void take_{dtype}({c_type} number, {c_type} *out) {{ *out = number; }}\n'
    for dtype, c_type in TYPES.items()
)
STRUCT = """struct Range { double from; float to; };
extern "C" __global__ void take(Range range, double *out) { *out = range.from; }
"""


def name(case: Any) -> str:
    return f"{type(case).__name__} {case}"


@pytest.fixture(scope="module")
def taking(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Host kernels `take_int32` and so on, each of which writes the number that it is given."""
    if reason := toolchain.missing("host compiler"):
        pytest.skip(reason)
    file = tmp_path_factory.mktemp("arguments") / "take.cu"
    file.write_text(KERNELS + STRUCT)
    return host.compile(file)


@pytest.mark.parametrize(("dtype", "value"), TAKEN, ids=name)
def test_a_number_that_cupy_hands_over_arrives(taking: Any, dtype: str, value: Any) -> None:
    out = np.zeros(1, dtype)
    taking.get_function(f"take_{dtype}")((1,), (1,), (value, out))
    assert out[0] == value


@pytest.mark.parametrize(("dtype", "value"), REFUSED, ids=name)
def test_another_number_is_refused(taking: Any, dtype: str, value: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError), match=f"take_{dtype}, argument 1 of 2: .* came.*{dtype}|{dtype}.* came"
    ):
        taking.get_function(f"take_{dtype}")((1,), (1,), (value, np.zeros(1, dtype)))


@pytest.mark.parametrize("value", [np.zeros((), "V12"), np.zeros(1, "V16"), 16, np.array(None)])
def test_a_struct_has_its_size_and_no_dimensions(taking: Any, value: Any) -> None:
    take = taking.get_function("take")
    with pytest.raises(TypeError, match="Range of 16 bytes is wanted"):
        take((1,), (1,), (value, np.zeros(1)))
    take((1,), (1,), (np.zeros((), "V16"), np.zeros(1)))
