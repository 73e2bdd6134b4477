"""The FIR filter without a GPU: its numbers on the CPU, its machine code, the arguments that its binding refuses."""

import itertools

import numpy as np
import pytest

import fourways_aot
from fourways import building, host, kernels, sass

SIZES = (0, 1, 3, 4, 5, 8, 9, 31, 32, 33, 257, 1009)


def taps_of(length: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(length).random(length, np.float32) + 0.5)


def expected(x: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Output by output, in float64."""
    return np.array([np.dot(x[i : i + taps.size].astype(float), taps) for i in range(x.size - taps.size + 1)])


def options(taps: np.ndarray, known: str, outputs: int) -> tuple[str, ...]:
    text = ",".join(f"{tap.hex()}f" for tap in taps.tolist())
    macros = {"nothing": (), "length": (f"-DLENGTH={taps.size}",), "taps": (f"-DTAPS={text}",)}
    return *macros[known], f"-DOUTPUTS={outputs}"


def run(kernel: host.HostKernel, taps: np.ndarray, size: int, offset: int = 0, grid: int = 3) -> None:
    """Compare one launch with NumPy, its arrays `offset` floats after a multiple of 32 bytes; nothing beside y."""
    around = [np.full(count + 64, np.nan, np.float32) for count in (size + taps.size - 1, size)]
    starts = [16 + offset + (-array.ctypes.data // 4) % 8 for array in around]
    x, y = around[0][starts[0] : starts[0] + size + taps.size - 1], around[1][starts[1] : starts[1] + size]
    x[...] = np.random.default_rng(3).random(x.size, np.float32)
    kernel((grid,), (32,), (x, taps, np.int32(taps.size), y, np.int64(size)))
    np.testing.assert_allclose(y, expected(x, taps), rtol=1e-6)
    y[...] = np.nan
    assert np.isnan(around[1]).all(), "wrote outside of y"


@pytest.mark.parametrize("known", ["nothing", "length", "taps"])
@pytest.mark.parametrize(("length", "outputs"), [(1, 1), (1, 4), (5, 2), (16, 4), (17, 8)])
def test_right_at_any_size_and_address(known: str, length: int, outputs: int) -> None:
    taps = taps_of(length)
    kernel = host.compile(kernels.path("fir"), options(taps, known, outputs)).get_function("fir")
    for size, offset in itertools.product(SIZES, (0, 1, 4)):
        run(kernel, taps, size, offset)
    run(kernel, taps, 1009, grid=1)
    run(kernel, taps, 1009, grid=64)


def test_reads_nothing_outside_of_the_signal() -> None:
    taps = taps_of(5)
    kernel = host.compile(kernels.path("fir"), options(taps, "taps", 4), sanitize="address").get_function("fir")
    for size in (1, 4, 5, 130):
        x, y = np.ones(size + 4, np.float32), np.full(size, np.nan, np.float32)
        kernel((1,), (32,), (x, taps, np.int32(5), y, np.int64(size)))
        np.testing.assert_allclose(y, taps.sum(), rtol=1e-6)


def test_known_taps_are_never_read() -> None:
    taps, nothing = taps_of(16), np.full(16, np.nan, np.float32)
    kernel = host.compile(kernels.path("fir"), options(taps, "taps", 1)).get_function("fir")
    x, y = np.ones(24, np.float32), np.empty(9, np.float32)
    kernel((1,), (32,), (x, nothing, np.int32(16), y, np.int64(9)))
    np.testing.assert_allclose(y, taps.sum(), rtol=1e-6)


@pytest.mark.parametrize(("known", "wide"), [("nothing", 0), ("length", 5), ("taps", 5)])
def test_a_known_window_is_read_in_packs(known: str, wide: int) -> None:
    """What lesson 09 says of the machine code; with known values, a tap is part of the multiply-add."""
    built = building.build(kernels.path("fir"), options=options(taps_of(16), known, 4))
    listing = sass.parse(sass.disassemble(built.code))
    assert sum(line.opcode.startswith("LDG.E.128") for line in listing) == wide
    first = next(line.operands for line in listing if line.base == "FFMA")
    assert ("." in first) == (known == "taps")
    assert built.resources["fir"].spill_bytes == 0


def test_each_length_listed_is_a_kernel_of_the_binding() -> None:
    cpp = kernels.root() / "cpp"
    made = {
        listed: building.build(
            cpp / "aot" / "fir.cu", "nvcc", options=(f"-DFIR_LENGTHS={listed}", f"-I{cpp / 'kernels'}")
        )
        for listed in ("", r"8\,24")
    }
    assert [len(each.resources) for each in made.values()] == [1, 3]
    assert len(made[""].code) < len(made[r"8\,24"].code)


def test_nvcc_cuts_an_option_at_a_comma() -> None:
    """Should this fail, lesson 09 has a section to rewrite."""
    for compiler, plain, escaped in (("nvrtc", True, False), ("nvcc", False, True)):
        for told, taken in ((r"-DTAPS=1.0f,2.0f", plain), (r"-DTAPS=1.0f\,2.0f", escaped)):
            try:
                building.build(kernels.path("fir"), compiler, options=(told,))
                assert taken, (compiler, told)
            except building.BuildError:
                assert not taken, (compiler, told)


class Exported:
    """Stands for a GPU array at an address that nobody reads: the call ends before."""

    def __init__(self, address: int, shape: tuple[int, ...], typestr: str = "<f4", read_only: bool = False):
        data = (0x7F00_0000_0000 + address, read_only)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": 3}


X, TAPS, Y = Exported(0, (18,)), Exported(0x1000, (3,)), Exported(0x2000, (16,))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Exported(0, (18,), "<f8"), TAPS, Y), TypeError, "x has dtype float64; wanted float32"),
        ((X, np.ones(3, np.float32), Y), TypeError, "taps is a numpy.ndarray in host memory"),
        ((X, TAPS, Exported(0x2000, (4, 4))), ValueError, r"y has shape \(4, 4\); wanted one dimension"),
        ((X, Exported(0x1000, (0,)), Y), ValueError, "taps has 0 elements; wanted 1 to 2147483647"),
        ((Exported(0, (16,)), TAPS, Y), ValueError, r"x has shape \(16,\); wanted \(18,\), the elements"),
        ((X, TAPS, Exported(0x2000, (16,), read_only=True)), ValueError, "y is read-only"),
        ((X, TAPS, Exported(0x40, (16,))), ValueError, "y shares memory with x"),
        ((X, Exported(0x2008, (3,)), Y), ValueError, "y shares memory with taps"),
    ],
)
def test_the_binding_names_a_bad_argument(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^fir: {message}"):
        fourways_aot.fir(*arguments)
