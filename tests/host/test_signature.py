"""A kernel has one signature, whether NVRTC, nvcc or the host's C++ compiler tells it."""

from pathlib import Path

import numpy as np
import pytest
import told

from fourways import host, kernels

CASES = Path(__file__).parents[1] / "cases"
PARAMETERS = Path(__file__).parent / "kernels" / "parameters.cu"
FILES = [*map(kernels.path, kernels.names()), *sorted(CASES.glob("*.cu")), PARAMETERS]
NO_HOST_WAY = {"long_scan", "normalise", "scan"}  # they use CUB
NO_HOST_WAY |= {"first", "scale"}  # not extern "C": the host way finds them by name_expressions
NO_HOST_WAY |= {"widths"}  # uint64_t is unsigned long here, and unsigned long long for NVRTC


def told_by_host(path: Path) -> dict[str, kernels.Signature]:
    module = host.compile(path)
    return {name: module.get_function(name).signature for name in module.names}


@pytest.mark.parametrize("path", [path for path in FILES if path.stem not in NO_HOST_WAY], ids=lambda path: path.stem)
def test_all_compilers_tell_the_same(path: Path) -> None:
    assert told_by_host(path) == told.signatures(path)


def test_parameters_of_all_kinds() -> None:
    """Where an element has no size of its own, there is none."""
    found = told_by_host(PARAMETERS)
    sizes = {each.name: each.element_size for each in found["arrays"].parameters}
    assert sizes == {"x": 4, "y": 8, "v": 4, "raw": 0, "raw_too": 0, "quads": 16, "pairs": 16, "rgb": 3, "h": 2, "b": 2,
                     "ranges": 32, "handle": 0, "z": 8, "pp": 8, "rows": 16, "argument 16": 0, "modes": 4, "many": 32,
                     "inner": 2}  # fmt: skip
    assert {each.element_size for each in found["values"].parameters} == {0}
    assert found["values"].parameters[-1].name == "argument 27"


def test_a_pointer_to_structs_of_numbers_wants_structs(tmp_path: Path) -> None:
    """Even where their first member is called x, as a float4's is."""
    file = tmp_path / "points.cu"
    file.write_text(
        'struct Point { float x; double t; };\nextern "C" __global__ void later(Point *p, Point by) { p->t += by.t; }\n'
    )
    later = host.compile(file).get_function("later")
    point = np.dtype([("x", "f4"), ("t", "f8")], align=True)
    points, by = np.zeros(2, point), np.array((0, 3), point)[()]
    later((1,), (1,), (points, by))
    assert points["t"].tolist() == [3, 0]
    with pytest.raises(TypeError, match=r"later, argument 1 of 2: a NumPy array is wanted, of 16 bytes an element"):
        later((1,), (1,), (np.zeros(8, np.float32), by))
    with pytest.raises(TypeError, match=r"later, argument 2 of 2: float came; Point of 16 bytes is wanted"):
        later((1,), (1,), (points, 3.0))
