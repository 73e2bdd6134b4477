"""The check finds every planted mistake, and names the way, the size and the element."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from fourways import checking, host
from fourways.ways import Ways


def make_inputs(size: int) -> tuple:
    return (np.arange(size, dtype=np.float32),)


def ways_of(function) -> Ways:
    return Ways("doublify", make_inputs, lambda x: 2 * x, {"host": function})


def right(x, y):
    y[...] = 2 * x


def unwritten_tail(x, y):
    y[: len(y) // 32 * 32] = 2 * x[: len(y) // 32 * 32]


def gives_nan(x, y):
    y[...] = 2 * x
    y[-1:] = np.nan


def changes_input(x, y):
    y[...] = 2 * x
    x += 1


def writes_outside(x, y):
    y[...] = 2 * x
    y.base[-4 * 4096] = 0


def writes_before_x(x, y):
    y[...] = 2 * x
    x.base[0] = 0


def off_by_a_little(x, y):
    y[...] = 2 * x * (1 + 1e-6)


def test_only_an_element_with_the_poisons_bits_is_called_unwritten() -> None:
    got = np.array([np.nan, 0], np.float32)
    assert "never written: it still holds the poison" in str(checking.compare(got, np.zeros(2, np.float32)))
    beyond = np.array([0x7FFFFFFF], np.uint32).view(np.float32)  # what lies there on the CPU, and a GPU's computed NaN
    told = str(checking.compare(beyond, np.zeros(1, np.float32)))
    assert told == "element 0 is nan (computed, or read beyond an array's end), expected 0.0; 1 of 1 wrong"


def test_right_passes() -> None:
    assert checking.check(ways_of(right)).rows[0] == {"way": "host", "sizes": len(checking.SIZES), "outcome": "right"}


@pytest.mark.parametrize(
    "function, message",
    [
        (unwritten_tail, r"doublify_host, size 1: element 0 is nan \(never written.*expected 0.0; 1 of 1 wrong"),
        (gives_nan, "size 1: element 0 is nan"),
        (changes_input, "size 1: changed its input number 0"),
        (writes_outside, "size 0: wrote outside the output array: element 0 of 0"),
        (writes_before_x, "size 0: wrote outside its input number 0: element -4096 of 0"),
        (off_by_a_little, "size 31: element 1 is 2.00000"),
    ],
)
def test_planted_mistakes_are_found(function, message: str) -> None:
    with pytest.raises(checking.CheckFailure, match=message):
        checking.check(ways_of(function))


def test_tolerance_is_relative() -> None:
    ways = ways_of(off_by_a_little)
    ways.rtol = 2e-6
    assert checking.check(ways).rows[0]["outcome"] == "right"


def test_nan_in_the_reference_does_not_pass() -> None:
    nan = np.full(4, np.nan, np.float32)
    assert "4 of 4 wrong" in (checking.compare(nan, nan) or "")


def test_integers_are_compared_exactly_and_infinities_and_complex_numbers_may_be_equal() -> None:
    big = np.array([2**53], np.int64)
    assert "expected 9007199254740993" in (checking.compare(big, big + 1, rtol=1e-5) or "")
    assert checking.compare(big, big + 1, atol=1.0) is None
    for equal in (np.array([np.inf], np.float32), np.array([1 + 2j], np.complex64)):
        assert checking.compare(equal, equal) is None
        assert checking.compare(equal, equal, rtol=1e-6) is None
    assert checking.compare(np.array([1 + 2j]), np.array([1 + 3j]), rtol=1e-6)


def test_nothing_but_infinity_is_near_to_infinity() -> None:
    infinite = np.array([np.inf], np.float32)
    for wrong in (-np.inf, 5, np.nan):
        assert checking.compare(np.array([wrong], np.float32), infinite, rtol=1e-5, atol=1)


def test_the_absolute_tolerance_is_for_what_is_near_zero() -> None:
    got, right = np.array([1e-7, 1 + 1e-7], np.float64), np.array([0.0, 1.0])
    assert checking.compare(got, right, rtol=1e-6)
    assert checking.compare(got, right, rtol=1e-6, atol=1e-6) is None


def test_nothing_to_check_is_no_success() -> None:
    ways = ways_of(right)
    ways.missing = {"host": "no compiler"}
    with pytest.raises(checking.CheckFailure, match="nothing was checked"):
        checking.check(ways)


def test_a_way_that_cannot_run_is_named_with_its_reason() -> None:
    ways = ways_of(right)
    ways.missing = {"nvrtc": "no GPU"}
    assert checking.check(ways, sizes=[3]).cells() == [["host", "1", "right"], ["nvrtc", "0", "not run: no GPU"]]


def test_a_way_that_raises_is_wrong_and_a_lost_gpu_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def far_outside(x, y):
        raise RuntimeError("cudaErrorIllegalAddress")

    with pytest.raises(checking.CheckFailure, match="^doublify_host, size 0: it raised RuntimeError") as failure:
        checking.check(ways_of(far_outside))
    assert isinstance(failure.value.__cause__, RuntimeError)
    runtime = SimpleNamespace(deviceSynchronize=lambda: far_outside(0, 0), CUDARuntimeError=RuntimeError)
    cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime), asarray=lambda array: array)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    ways = ways_of(right)
    ways.functions = {"nvrtc": far_outside, "nvcc": far_outside}
    said = r"cudaErrorIllegalAddress.*\nThis process's GPU context is lost .*\n.* restart the kernel"
    with pytest.raises(checking.CheckFailure, match=rf"^doublify_nvrtc, size 0: RuntimeError: {said}"):
        checking.check(ways)


def test_a_notebook_shows_one_line() -> None:
    rows = [{"way": way, "sizes": 11, "outcome": "right"} for way in ("nvrtc", "nvcc", "host")]
    assert checking.Outcomes(rows)._repr_mimebundle_()["text/html"] == "<p>All three ways are right at 11 sizes.</p>"
    missing = [{"way": way, "sizes": 0, "outcome": "not run: no NVIDIA driver"} for way in ("nvcc", "pycuda")]
    line = checking.Outcomes([rows[2], *missing]).line()
    assert line == "Right at 11 sizes: host. nvcc, pycuda: not run: no NVIDIA driver."


def test_a_place_in_a_matrix_and_another_shape() -> None:
    got, expected = np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)
    got[1, 2] = 5
    whole = np.arange(2, dtype=np.int32)
    said = checking.verdict(lambda x, y: y[:1].fill(0), "host", (whole,), whole)
    assert "element 1 is -2147483648 (what stood there before: never written?), expected 1" in (said or "")
    assert checking.compare(got, expected) == "element (1, 2) is 5.0, expected 1.0; 1 of 6 wrong"
    assert checking.compare(got, expected.T) == "shape (2, 3), expected (3, 2)"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda x, y: 3 * x,
            "size 1: it returned a value, and wrote nothing into its output: the answer belongs into the last argument",
        ),
        (
            lambda y, x: y.__setitem__(..., 3 * x),
            "size 1: it changed its input number 0 and .* are two arguments swapped",
        ),
        (
            lambda x, y: x @ np.ones((2, 2)),
            r"raised ValueError: .*\nIt was called with float32 \(0,\), and float32 \(0,\)",
        ),
    ],
)
def test_exercise_says_what_people_do(answer, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not checking.exercise(answer, make_inputs, lambda x: 3 * x)
    assert re.search(message, capsys.readouterr().out)


def test_a_copy_of_too_much_is_found() -> None:
    """What stands beside an input differs from what stands beside the output, or nobody would see it arrive."""

    def copies(x, y):
        y.base[...] = x.base

    x = np.arange(5, dtype=np.float32)
    assert checking.verdict(copies, "host", (x,), x) == "wrote outside the output array: element -4096 of 5"


def test_exercise_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    def triple(x):
        return 3 * x

    def forgets_the_last(x, y):
        y[: max(1, len(y) - 1)] = 3 * x[: max(1, len(y) - 1)]

    assert checking.exercise(lambda x, y: np.multiply(x, 3, out=y), make_inputs, triple)
    assert capsys.readouterr().out == f"Right at {len(checking.SIZES)} sizes, from 0 to 1000003.\n"
    assert not checking.exercise(forgets_the_last, make_inputs, triple)
    assert (
        "Not yet: size 31: element 30 is nan (never written: it still holds the poison), expected 90.0; 1 of 31 wrong"
        in (capsys.readouterr().out)
    )
    assert not checking.exercise(lambda x: None, make_inputs, triple)
    assert "Not yet: size 0: it raised TypeError" in capsys.readouterr().out


@pytest.mark.parametrize("answer", [True, False])
def test_an_unwritten_output_of_bools_is_wrong(answer: bool) -> None:
    inputs = make_inputs(33)
    expected = np.full(33, answer)
    assert checking.verdict(lambda x, y: None, "host", inputs, expected)
    assert checking.verdict(lambda x, y: y.fill(answer), "host", inputs, expected) is None


def test_a_way_in_place_that_changes_another_input_is_wrong() -> None:
    x, bias = np.arange(33, dtype=np.float32), np.ones(33, np.float32)

    def adds(x: np.ndarray, bias: np.ndarray, y: np.ndarray) -> None:
        y += bias

    def spoils(x: np.ndarray, bias: np.ndarray, y: np.ndarray) -> None:
        y += bias
        bias[0] = 7

    assert checking.verdict(adds, "host", (x, bias), {"y": x + 1}, in_place={0: 0}) is None
    assert "input number 1" in (checking.verdict(spoils, "host", (x, bias), {"y": x + 1}, in_place={0: 0}) or "")


def test_an_exercise_about_launching_does_not_take_numpys_answer(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = host.compile(
        'extern "C" __global__ void triple(const float *x, float *y, long long n)'
        "{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) y[i] = 3 * x[i]; }"
    ).get_function("triple")

    def launches(x: np.ndarray, y: np.ndarray) -> None:
        kernel((max(1, -(-x.size // 256)),), (256,), (x, y, np.int64(x.size)))

    def dodges(x: np.ndarray, y: np.ndarray) -> None:
        y[...] = 3 * x

    asked = {"make_inputs": make_inputs, "reference": lambda x: 3 * x}
    assert checking.exercise(launches, **asked, launches=1) and checking.exercise(dodges, **asked)
    assert not checking.exercise(dodges, **asked, launches=1)
    assert "size 1: the answer is right, but 0 kernels were launched; 1 should be." in capsys.readouterr().out
    assert not checking.exercise(launches, **asked, launches=2)


def test_an_exercise_varies_its_scalars(capsys: pytest.CaptureFixture[str]) -> None:
    def scaled(a: np.float32, x: np.ndarray, y: np.ndarray) -> None:
        y[...] = a * x

    def a_constant(a: np.float32, x: np.ndarray, y: np.ndarray) -> None:
        y[...] = np.float32(2.5) * x

    asked = {"make_inputs": lambda size: (np.float32(2.5), *make_inputs(size)), "reference": lambda a, x: a * x}
    assert checking.exercise(scaled, **asked)
    assert not checking.exercise(a_constant, **asked)
