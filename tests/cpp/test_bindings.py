"""Every function of the compiled module without a GPU: an argument that is wrong is named, with what was wanted.

The arrays have addresses that nobody reads: the call ends before.
"""

import ctypes
import re
from pathlib import Path
from typing import Any

import bindings
import numpy as np
import pytest
from protocols import Exported

import fourways_aot


def good(function: str, **shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return right arguments, the arrays far apart, but with these shapes."""
    return {
        name: Exported(value, address=place << 24) if isinstance(value, tuple) else value
        for place, (name, value) in enumerate((bindings.GOOD[function] | shapes).items(), 0x7F)
    }


def refused(function: str, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{function}: {message}"):
        getattr(fourways_aot, function)(**arguments)


def address(array: Any) -> int:
    return array.__cuda_array_interface__["data"][0]


ARRAYS = [(function, name) for function in bindings.GOOD for name in bindings.arrays(function)]


@pytest.mark.parametrize(("function", "name"), ARRAYS)
def test_each_array_has_the_right_type_memory_and_layout(function: str, name: str) -> None:
    arguments = good(function)
    shape, place = bindings.arrays(function)[name], address(arguments[name])
    with_gaps = (shape[-1] + 1, *shape[1:]) if shape == (1,) else shape  # one element has no gap
    for bad, error, message in [
        ([1.0], TypeError, "is a list; wanted a GPU array"),
        (np.zeros(shape, np.float32), TypeError, "is a numpy.ndarray in host memory; wanted"),
        (Exported(shape, "<f8", place), TypeError, "has dtype float64; wanted float32"),
        (Exported(shape, "<i4", place), TypeError, "has dtype int32; wanted float32"),
        (
            Exported(with_gaps, address=place, strides=tuple(8 for _ in shape)),
            ValueError,
            "has shape .* and strides .*; wanted C order",
        ),
        (Exported(shape, address=place + 2), ValueError, "starts at address .*; wanted a multiple of 4"),
    ]:
        refused(function, arguments | {name: bad}, error, f"{name} {message}")


@pytest.mark.parametrize("function", bindings.GOOD)
def test_outputs_are_writable_and_lie_apart(function: str) -> None:
    arguments, shapes = good(function), bindings.arrays(function)
    for name in bindings.outputs(function):
        locked = Exported(shapes[name], address=address(arguments[name]), read_only=True)
        refused(function, arguments | {name: locked}, ValueError, f"{name} is read-only; wanted a writable array")
    *others, output = shapes
    for other in others:
        begin = address(arguments[other])
        for place in (begin, begin + 4 * (np.prod(shapes[other]) - 1), begin - 4 * (np.prod(shapes[output]) - 1)):
            shared = Exported(shapes[output], address=int(place))
            refused(function, arguments | {output: shared}, ValueError, f"{output} shares memory with {other}; wanted")


@pytest.mark.parametrize(("function", "shapes", "message"), bindings.OF_WRONG_SHAPE)
def test_shapes_fit_each_other(function: str, shapes: dict[str, tuple[int, ...]], message: str) -> None:
    refused(function, good(function, **shapes), ValueError, re.escape(message))


def driver_here() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(driver_here(), reason="there is a driver here")
@pytest.mark.parametrize("function", bindings.GOOD)
def test_right_arguments_pass_and_the_missing_driver_is_named(function: str) -> None:
    refused(function, good(function), RuntimeError, "cudaErrorInsufficientDriver: .*a driver as new as")
    empty = Exported((0,)), Exported((0,))
    with pytest.raises(RuntimeError, match="^doublify: cudaErrorInsufficientDriver"):
        fourways_aot.doublify(*empty)


def test_numbers_are_checked() -> None:
    message = r"a is 1e\+300; wanted a number within float32's range"
    refused("saxpy", good("saxpy") | {"a": 1e300}, ValueError, message)
    refused("stencil_steps", good("stencil_steps") | {"steps": -1}, ValueError, "steps is -1; wanted 0 or more")
    for steps in (2.5, np.float32(2.5), "2", None):
        with pytest.raises(TypeError, match=r"^stencil_steps\(\): incompatible.*\n.*steps: "):
            fourways_aot.stencil_steps(**good("stencil_steps") | {"steps": steps})


@pytest.mark.parametrize(
    ("stream", "error"),
    [("fast", TypeError), (True, TypeError), (1.5, TypeError), (-4, ValueError), (2**70, ValueError)],
)
def test_a_bad_stream_is_refused(stream: object, error: type[Exception]) -> None:
    refused("doublify", good("doublify") | {"stream": stream}, error, "stream is .*; wanted")


X = Exported()


@pytest.mark.parametrize(
    ("arguments", "named"), [((X,), {}), ((), {"y": X}), ((X,) * 4, {}), ((X,) * 2, {"x": X}), ((X,) * 2, {"z": X})]
)
def test_a_missing_or_odd_argument_is_refused_with_the_signature(arguments: tuple, named: dict[str, object]) -> None:
    signature = r"^doublify\(\): incompatible[^1]*1\. \(x: object, y: object, stream: object = None"
    with pytest.raises(TypeError, match=signature):
        fourways_aot.doublify(*arguments, **named)


def test_the_module_describes_itself(root: Path) -> None:
    assert f'version = "{fourways_aot.__version__}"' in (root / "pyproject.toml").read_text(encoding="utf-8")
    assert fourways_aot.cuda_version.split(".")[0].isdigit()
    assert fourways_aot.built_for and all(code.startswith(("sm_", "compute_")) for code in fourways_aot.built_for)
    functions = {name for name in dir(fourways_aot) if callable(getattr(fourways_aot, name))}
    assert functions == set(bindings.GOOD), "every function of the module is in the table"
    for function, arguments in bindings.GOOD.items():
        first, *rest = getattr(fourways_aot, function).__doc__.splitlines()
        assert first.startswith(f"{function}({next(iter(arguments))}: ") and "stream: object = None)" in first
        assert all(re.search(rf"^{name}\b|, {name} ", "\n".join(rest), re.M) for name in bindings.arrays(function))
