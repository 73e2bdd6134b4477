"""CUDA's built-in functions on the host: their answers, the types of their overloads, refusals."""

import numpy as np
import pytest
from builtins_of_cuda import SCALARS, SOURCE, TOGETHER, misses

from fourways import building, host

MATHS = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp",
    "exp10", "exp2", "expm1", "fabs", "floor", "j0", "j1", "lgamma", "log", "log10", "log1p", "log2", "logb",
    "nearbyint", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1", "abs",
    "rsqrt", "rcbrt", "sinpi", "cospi", "erfinv", "erfcinv", "erfcx", "normcdf", "normcdfinv", "cyl_bessel_i0",
    "cyl_bessel_i1",
]  # fmt: skip
PAIRS = ["atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder"]
TYPES = dict(
    f="float", d="double", c="signed char", s="short", i="int", u="unsigned", l="long", v="unsigned long",
    k="long long", w="unsigned long long",
)  # fmt: skip
RESULTS = {
    **{f"{name}({letter})": TYPES[letter] for name in MATHS for letter in "fd"},
    **{f"{name}({letter}, {letter})": TYPES[letter] for name in PAIRS for letter in "fd"},
    **{f"{name}({pair[0]}, {pair[1]})": TYPES[pair[1]] for name in ("min", "max") for pair in ("fd", "iu", "kw", "lv")},
    **{f"abs({letter})": TYPES[letter] for letter in "ilk"},
    **{f"fma({letter}, {letter}, {letter})": TYPES[letter] for letter in "fd"},
}
"""The type of each expression, by NVRTC and on the host.

nvcc and the host take `isnan` and its relatives, and `pow(float, int)`, from the C++ library: bool, double. NVRTC gives
int and float, so these are not here.
"""


def test_answers() -> None:
    module = host.compile(SOURCE)
    memory, alone, together = np.zeros(64, np.float32), np.zeros(len(SCALARS)), np.zeros((len(TOGETHER), 64))
    module.get_function("alone")((1,), (1,), (memory, alone))
    module.get_function("together")((1,), (64,), (together,))
    assert misses(alone, together) == []


def test_the_types_are_those_of_nvrtc() -> None:
    text = "\n".join(
        [
            "template <class A, class B> struct same { enum { is = 0 }; };",
            "template <class A> struct same<A, A> { enum { is = 1 }; };",
            f'extern "C" __global__ void types({", ".join(f"{type_} {name}" for name, type_ in TYPES.items())})',
            "{",
            *(f'static_assert(same<decltype({call}), {type_}>::is, "{call}");' for call, type_ in RESULTS.items()),
            "}",
        ]
    )
    host.compile(text)
    building.build(text)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("float v; tex2D(&v, *(cudaTextureObject_t *)y, 1, 2);", "kernel.cu:4: tex2D has no host way: check this"),
        ("y[0] = __activemask();", "kernel.cu:4: __activemask has no host way: check this kernel on a GPU"),
        ("auto g = cg::this_grid(); g.sync();", "kernel.cu:4: this_grid has no host way"),
        ("y[0] = __viaddmax_s32(1, 2, 3);", "kernel.cu:4: the host way knows no __viaddmax_s32: if CUDA does, check"),
    ],
)
def test_what_only_a_gpu_can_do_is_refused_by_its_name(statement: str, said: str) -> None:
    head = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    with pytest.raises(ValueError) as raised:
        host.compile(f'{head}extern "C" __global__ void k(float *y) {{\n{statement}\n}}\n')
    assert str(raised.value).startswith(said) and "\n" not in str(raised.value)


def test_a_kernel_and_its_functions_may_have_these_names_and_ours() -> None:
    text = """
    __device__ float tex2D(const float *x, int i, int j) { return x[2 * i + j]; }
    __device__ float atomicMax(float *place, float value) { return *place = 9; }
    extern "C" __global__ void rank(float *y) { y[0] = tex2D(y, 1, 1); atomicMax(y + 1, 1); }
    """
    y = np.arange(4, dtype=np.float32)
    host.compile(text).get_function("rank")((1,), (1,), (y,))
    assert y.tolist() == [3, 9, 2, 3]
