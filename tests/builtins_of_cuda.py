"""CUDA's built-in functions: calls and their right answers, as one kernel file that a GPU and the host way can run.

The answers follow the CUDA programming guide and the PTX manual; mathematical functions are Python's.
"""

import math
from collections.abc import Iterator

import numpy as np

F, D, I, U, L, X = np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64  # noqa: E741
_LITERAL = {F: "{!r}f", D: "{!r}", I: "{}", U: "{}u", L: "{}ll", X: "{}ull"}
TINY = F(2.0**-40)
"""Too small to change a float32 near 1, but not too small to decide a rounding."""
INF, NAN = "run(__int_as_float(0x7f800000))", "run(__int_as_float(0x7fffffff))"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return value
    return f"run({_LITERAL[type(value)].format(value.item())})"  # type: ignore[index, attr-defined]


def _next(value: float, toward: float) -> float:
    return float(np.nextafter(F(value), F(toward)))


def _atomic(type_: str, before: float, name: str, value: object) -> str:
    """16 times what the call returns, and what stands there afterwards."""
    call = f"atomic{name}(place, {value})"
    place = f"{type_} *place = ({type_} *)memory; *place = {before};"
    return f"[=] {{ {place} {type_} old = {call}; return old * 16.0 + *place; }}()"


def _scalars() -> Iterator[tuple[str, float, float]]:
    """Calls of one thread: an expression, its value, and the relative error that is allowed."""

    def call(name: str, *arguments: object, is_: float, rtol: float = 0) -> tuple[str, float, float]:
        return f"{name}({', '.join(map(_literal, arguments))})", is_, rtol

    # overloads: what C's functions of these names would cut to an int, or compute in double precision
    yield call("abs", F(-1.75), is_=1.75)
    yield call("abs", D(-1e300), is_=1e300)
    yield call("abs", I(-3), is_=3)
    yield call("abs", L(-(2**40)), is_=2.0**40)
    yield call("llabs", L(-(2**40)), is_=2.0**40)
    yield "sizeof(sqrt(run(2.0f)))", 4, 0
    yield call("pow", F(3), F(2), is_=9, rtol=1e-6)
    yield call("pow", F(3), I(2), is_=9, rtol=1e-6)
    yield call("fmod", F(7), F(4), is_=3)
    # the smaller and the larger: unsigned wins, NaN loses
    for name, small in (("min", True), ("max", False)):
        yield call(name, I(-1), I(2), is_=-1 if small else 2)
        yield call(name, I(-1), U(2), is_=2 if small else 2**32 - 1)
        yield call(name, U(7), I(-1), is_=7 if small else 2**32 - 1)
        yield call(name, L(-1), L(2**40), is_=-1 if small else 2.0**40)
        yield call(name, X(1), X(2**40), is_=1 if small else 2.0**40)
        yield call(name, L(1), X(2**40), is_=1 if small else 2.0**40)
        yield call(name, F(1), F(2), is_=1 if small else 2)
        yield call(name, F(1), D(1e300), is_=1 if small else 1e300)
        yield call(name, D(1), F(2), is_=1 if small else 2)
        yield call(name, NAN, F(2), is_=2)
        yield call(name, F(2), NAN, is_=2)
        yield call("u" + name, U(1), U(2**32 - 1), is_=1 if small else 2**32 - 1)
        yield call("ull" + name, X(1), X(2**40), is_=1 if small else 2.0**40)
        yield call("ll" + name, L(-1), L(1), is_=-1 if small else 1)
    # kinds of floats
    for argument, nan, inf in ((NAN, 1, 0), (INF, 0, 1), (F(1), 0, 0), (D(1), 0, 0)):
        yield f"(isnan({_literal(argument)}) != 0)", nan, 0
        yield f"(isinf({_literal(argument)}) != 0)", inf, 0
        yield f"(isfinite({_literal(argument)}) != 0)", not (nan or inf), 0
    yield f"(signbit({_literal(F(-0.0))}) != 0)", 1, 0
    yield f"(__isnanf({NAN}) != 0)", 1, 0
    # bits
    yield call("__float_as_int", F(1), is_=0x3F800000)
    yield call("__float_as_uint", F(-1), is_=0xBF800000)
    yield call("__int_as_float", I(0x40490FDB), is_=float(F(math.pi)))
    yield call("__uint_as_float", U(0xBF800000), is_=-1)
    yield call("__double_as_longlong", D(1), is_=float(0x3FF0000000000000))
    yield call("__longlong_as_double", L(0x4000000000000000), is_=2)
    yield call("__double2hiint", D(-2), is_=-(2**30))
    yield call("__double2loint", D(1 + 2.0**-52), is_=1)
    yield call("__hiloint2double", I(0x3FF00000), I(1), is_=1 + 2.0**-52)
    yield call("__clz", I(1), is_=31)
    yield call("__clz", I(0), is_=32)
    yield call("__clz", I(-1), is_=0)
    yield call("__clzll", L(1), is_=63)
    yield call("__clzll", L(0), is_=64)
    yield call("__ffs", I(0), is_=0)
    yield call("__ffs", I(8), is_=4)
    yield call("__ffsll", L(2**40), is_=41)
    yield call("__popc", U(0xF0F0), is_=8)
    yield call("__popcll", X(2**64 - 1), is_=64)
    yield call("__brev", U(6), is_=0x60000000)
    yield call("__brevll", X(1), is_=2.0**63)
    yield call("__byte_perm", U(0x33221100), U(0x77665544), U(0x1076), is_=0x11007766)
    yield call("__fns", U(0b10110), U(0), I(2), is_=2)
    yield call("__fns", U(0b10110), U(2), I(0), is_=2)
    yield call("__fns", U(0b10110), U(3), I(-2), is_=1)
    yield call("__fns", U(0b10110), U(0), I(4), is_=2**32 - 1)
    for kind, shift, is_ in (("l", 8, 0x34567889), ("l", 40, 0x34567889), ("lc", 40, 0x89ABCDEF)):
        yield call(f"__funnelshift_{kind}", U(0x89ABCDEF), U(0x12345678), U(shift), is_=is_)
    for kind, shift, is_ in (("r", 8, 0x7889ABCD), ("r", 40, 0x7889ABCD), ("rc", 40, 0x12345678)):
        yield call(f"__funnelshift_{kind}", U(0x89ABCDEF), U(0x12345678), U(shift), is_=is_)
    # whole numbers
    yield call("__mul24", I(-3), I(0x01000005), is_=-15)
    yield call("__umul24", U(0xFF000003), U(5), is_=15)
    yield call("__mulhi", I(-1), I(2), is_=-1)
    yield call("__umulhi", U(2**31), U(6), is_=3)
    yield call("__mul64hi", L(-(2**62)), L(8), is_=-2)
    yield call("__umul64hi", X(2**63), X(6), is_=3)
    yield call("__sad", I(-3), I(4), U(10), is_=17)
    yield call("__usad", U(3), U(4), U(10), is_=11)
    yield call("__hadd", I(-3), I(0), is_=-2)
    yield call("__rhadd", I(-3), I(0), is_=-1)
    yield call("__hadd", I(2**31 - 1), I(2**31 - 1), is_=2**31 - 1)
    yield call("__uhadd", U(2**32 - 1), U(2), is_=2.0**31)
    yield call("__urhadd", U(2**32 - 1), U(2), is_=2.0**31 + 1)
    yield call("__dp4a", I(0x010203FF), I(0x01010102), I(100), is_=104)
    yield call("__dp4a", U(0x010203FF), U(0x01010102), U(100), is_=100 + 6 + 510)
    yield call("__dp2a_lo", I(0x0002FFFF), I(0x7F7F0305), I(100), is_=100 - 5 + 6)
    yield call("__dp2a_hi", I(0x0002FFFF), I(0x03057F7F), I(100), is_=100 - 5 + 6)
    yield call("__vadd4", U(0x01FF7F80), U(0x01010101), is_=0x02008081)
    yield call("__vaddss4", U(0x01FF7F80), U(0x0101FFFF), is_=0x02007E80)
    yield call("__vaddus2", U(0xFFFF0001), U(0x00010001), is_=0xFFFF0002)
    yield call("__vsub2", U(0x00010001), U(0x00020000), is_=0xFFFF0001)
    yield call("__vsubus4", U(0x01020304), U(0x02020202), is_=0x00000102)
    yield call("__vabsdiffu4", U(0x0001FF03), U(0x010100FE), is_=0x0100FFFB)
    yield call("__vabsdiffs4", U(0x0001FF03), U(0x010100FE), is_=0x01000105)
    yield call("__vabsss2", U(0x8000FFFF), is_=0x7FFF0001)
    yield call("__vneg2", U(0x0001FFFF), is_=0xFFFF0001)
    yield call("__vmaxs2", U(0xFFFF0003), U(0x00000002), is_=0x00000003)
    yield call("__vmaxu2", U(0xFFFF0003), U(0x00000002), is_=0xFFFF0003)
    yield call("__vmins4", U(0xFF000102), U(0x00000201), is_=0xFF000101)
    yield call("__vminu4", U(0xFF000102), U(0x00000201), is_=0x00000101)
    yield call("__vavgu4", U(0x01FF0003), U(0x02FF0100), is_=0x02FF0102)
    yield call("__vavgs4", U(0xFE000003), U(0xFF000100), is_=0xFE000102)
    yield call("__vhaddu4", U(0x01FF0003), U(0x02FF0100), is_=0x01FF0001)
    yield call("__vcmpeq4", U(0x01020304), U(0x01030305), is_=0xFF00FF00)
    yield call("__vcmpgts2", U(0xFFFF0001), U(0x00000000), is_=0x0000FFFF)
    yield call("__vsetgtu2", U(0xFFFF0001), U(0x00000000), is_=0x00010001)
    yield call("__vsadu4", U(0x0001FF03), U(0x010100FE), is_=1 + 255 + 251)
    yield call("__vsads2", U(0xFFFF0001), U(0x00010000), is_=3)
    # rounding in a direction
    one_up, one_down = 1 + 2.0**-23, 1 - 2.0**-24
    for suffix, sum_, difference in (
        ("rn", 1, 1),
        ("rz", 1, one_down),
        ("ru", one_up, 1),
        ("rd", 1, one_down),
    ):
        yield call(f"__fadd_{suffix}", F(1), TINY, is_=sum_)
        yield call(f"__fsub_{suffix}", F(1), TINY, is_=difference)
        yield call(f"__fmaf_{suffix}", F(1), F(1), TINY, is_=sum_)
        third = float(F(1 / 3))  # above one third
        is_ = _next(third, -math.inf) if suffix in ("rz", "rd") else third
        yield call(f"__fdiv_{suffix}", F(1), F(3), is_=is_)
        yield call(f"__frcp_{suffix}", F(3), is_=is_)
        yield call(f"__fmul_{suffix}", F(1 + 2.0**-23), F(1 + 2.0**-23), is_=1 + 2.0**-22 + (suffix == "ru") * 2.0**-23)
        root = float(F(math.sqrt(2)))  # below the root of 2
        yield call(f"__fsqrt_{suffix}", F(2), is_=_next(root, math.inf) if suffix == "ru" else root)
        d_up, d_down = 1 + 2.0**-52, 1 - 2.0**-53
        small = D(2.0**-80)
        yield call(f"__dadd_{suffix}", D(1), small, is_=d_up if suffix == "ru" else 1)
        yield call(f"__dsub_{suffix}", D(1), small, is_=d_down if suffix in ("rz", "rd") else 1)
        yield call(f"__fma_{suffix}", D(1), D(1), small, is_=d_up if suffix == "ru" else 1)
        yield call(f"__dmul_{suffix}", D(d_up), D(d_up), is_=1 + 2.0**-51 + (suffix == "ru") * 2.0**-52)
        d_third = 1 / 3  # below one third
        d_is = math.nextafter(d_third, 1) if suffix == "ru" else d_third
        yield call(f"__ddiv_{suffix}", D(1), D(3), is_=d_is)
        yield call(f"__drcp_{suffix}", D(3), is_=d_is)
        root = math.sqrt(2)  # above the root of 2
        yield call(f"__dsqrt_{suffix}", D(2), is_=math.nextafter(root, 0) if suffix in ("rz", "rd") else root)
    # conversions
    for suffix, positive, negative in (("rn", 2, -2), ("rz", 2, -2), ("ru", 3, -2), ("rd", 2, -3)):
        for kind, float_ in (("float", F), ("double", D)):
            yield call(f"__{kind}2int_{suffix}", float_(2.5), is_=positive)
            yield call(f"__{kind}2int_{suffix}", float_(-2.5), is_=negative)
            yield call(f"__{kind}2ll_{suffix}", float_(-2.5), is_=negative)
            yield call(f"__{kind}2uint_{suffix}", float_(2.5), is_=positive)
            yield call(f"__{kind}2ull_{suffix}", float_(2.5), is_=positive)
        above = 2**24 + 2 * (suffix == "ru")
        yield call(f"__int2float_{suffix}", I(2**24 + 1), is_=above)
        yield call(f"__uint2float_{suffix}", U(2**24 + 1), is_=above)
        yield call(f"__ll2float_{suffix}", L(2**24 + 1), is_=above)
        yield call(f"__ull2float_{suffix}", X(2**24 + 1), is_=above)
        yield call(f"__ll2double_{suffix}", L(2**53 + 1), is_=2.0**53 + 2 * (suffix == "ru"))
        yield call(f"__ull2double_{suffix}", X(2**53 + 1), is_=2.0**53 + 2 * (suffix == "ru"))
        yield call(f"__double2float_{suffix}", D(1 + 2.0**-40), is_=one_up if suffix == "ru" else 1)
    yield call("__int2double_rn", I(-5), is_=-5)
    yield call("__uint2double_rn", U(2**32 - 1), is_=2**32 - 1)
    yield call("__float2int_rz", F(1e20), is_=2**31 - 1)
    yield call("__float2int_rz", F(-1e20), is_=-(2**31))
    yield call("__float2uint_rz", F(-5), is_=0)
    yield call("__float2uint_rz", F(1e20), is_=2**32 - 1)
    yield call("__float2int_rz", NAN, is_=0)
    # approximations on a GPU
    yield call("__expf", F(1.5), is_=math.exp(1.5), rtol=1e-5)
    yield call("__exp10f", F(1.5), is_=10**1.5, rtol=1e-5)
    yield call("__logf", F(7), is_=math.log(7), rtol=1e-5)
    yield call("__log2f", F(7), is_=math.log2(7), rtol=1e-5)
    yield call("__log10f", F(7), is_=math.log10(7), rtol=1e-5)
    yield call("__sinf", F(1.5), is_=math.sin(1.5), rtol=1e-5)
    yield call("__cosf", F(0.5), is_=math.cos(0.5), rtol=1e-5)
    yield call("__tanf", F(0.5), is_=math.tan(0.5), rtol=1e-5)
    yield call("__powf", F(3), F(2.5), is_=3**2.5, rtol=1e-5)
    yield call("__fdividef", F(1), F(3), is_=1 / 3, rtol=1e-6)
    yield call("fdividef", F(1), F(3), is_=1 / 3, rtol=1e-6)
    yield call("fdivide", D(1), D(3), is_=1 / 3, rtol=1e-15)
    yield call("__frsqrt_rn", F(2), is_=float(F(1 / math.sqrt(2))))
    yield call("__saturatef", F(1.5), is_=1)
    yield call("__saturatef", F(-1), is_=0)
    yield call("__saturatef", F(0.25), is_=0.25)
    yield call("__saturatef", NAN, is_=0)
    yield (
        "[] { float s, c; __sincosf(run(0.5f), &s, &c); return 2 * s + c; }()",
        2 * math.sin(0.5) + math.cos(0.5),
        1e-5,
    )
    # functions that C lacks
    for suffix, float_, rtol in (("f", F, 1e-5), ("", D, 1e-13), ("", F, 1e-5)):
        yield call(f"rsqrt{suffix}", float_(2), is_=1 / math.sqrt(2), rtol=rtol)
        yield call(f"rcbrt{suffix}", float_(27), is_=1 / 3, rtol=rtol)
        yield call(f"sinpi{suffix}", float_(0.25), is_=math.sin(math.pi / 4), rtol=rtol)
        yield call(f"cospi{suffix}", float_(0.25), is_=math.cos(math.pi / 4), rtol=rtol)
        yield call(f"exp10{suffix}", float_(2), is_=100, rtol=rtol)
        yield call(f"erfinv{suffix}", float_(0.5), is_=0.47693627620446987, rtol=rtol)
        yield call(f"erfcinv{suffix}", float_(0.5), is_=0.47693627620446987, rtol=rtol)
        yield call(f"erfcx{suffix}", float_(1), is_=math.e * math.erfc(1), rtol=rtol)
        yield call(f"normcdf{suffix}", float_(1), is_=0.8413447460685429, rtol=rtol)
        yield call(f"normcdfinv{suffix}", float_(0.75), is_=0.6744897501960817, rtol=rtol)
        yield call(f"cyl_bessel_i0{suffix}", float_(1), is_=1.2660658777520084, rtol=rtol)
        yield call(f"cyl_bessel_i1{suffix}", float_(-1), is_=-0.5651591039924851, rtol=rtol)
        yield call(f"j0{suffix}", float_(1), is_=0.7651976865579665, rtol=rtol)
        yield call(f"yn{suffix}", I(2), float_(1), is_=-1.6506826068162546, rtol=rtol)
        if float_ is F and not suffix:
            continue  # no overloads
        yield call(f"rhypot{suffix}", float_(3), float_(4), is_=0.2, rtol=rtol)
        yield call(f"norm3d{suffix}", float_(2), float_(3), float_(6), is_=7, rtol=rtol)
        yield call(f"norm4d{suffix}", float_(2), float_(4), float_(5), float_(6), is_=9, rtol=rtol)
        yield call(f"rnorm3d{suffix}", float_(2), float_(3), float_(6), is_=1 / 7, rtol=rtol)
        yield call(f"rnorm4d{suffix}", float_(2), float_(4), float_(5), float_(6), is_=1 / 9, rtol=rtol)
        c = "float" if suffix else "double"
        yield f"[] {{ {c} x[] = {{2, 3, 6}}; return norm{suffix}(3, x) + rnorm{suffix}(3, x); }}()", 7 + 1 / 7, rtol
        yield (
            f"[] {{ {c} s, c; sincospi{suffix}(run({c}(0.25)), &s, &c); return s + 2 * c; }}()",
            3 / math.sqrt(2),
            rtol,
        )
    yield "[] { float s, c; sincos(run(0.5f), &s, &c); return s + 2 * c; }()", math.sin(0.5) + 2 * math.cos(0.5), 1e-6
    yield "[] { int e; return frexpf(run(12.0f), &e) + e; }()", 4.75, 0
    # memory
    for load in ("__ldg", "__ldca", "__ldcg", "__ldcs", "__ldcv", "__ldlu"):
        yield f"{load}((const float *)memory)", 1.5, 0
        yield f"{load}((const float4 *)memory).w", 1.5, 0
    for store in ("__stcg", "__stcs", "__stwb", "__stwt"):
        yield f"({store}(memory + 4, run(2.5f)), memory[4])", 2.5, 0
    for scope in ("", "_block", "_system"):
        for name, before, value, after in (
            ("Add", 5, 3, 8),
            ("Sub", 5, 3, 2),
            ("Exch", 5, 3, 3),
            ("Min", 5, 3, 3),
            ("Max", 5, 3, 5),
            ("And", 5, 3, 1),
            ("Or", 5, 3, 7),
            ("Xor", 5, 3, 6),
            ("Inc", 5, 7, 6),
            ("Inc", 7, 7, 0),
            ("Dec", 5, 7, 4),
            ("Dec", 0, 7, 7),
            ("Dec", 9, 7, 7),
            ("CAS", 5, "5, 6", 6),
            ("CAS", 5, "4, 6", 5),
        ):
            yield _atomic("unsigned", before, f"{name}{scope}", value), before * 16 + after, 0
    yield _atomic("float", 1.5, "Add", 2), 1.5 * 16 + 3.5, 0
    yield _atomic("double", 0.5, "Add", 2), 0.5 * 16 + 2.5, 0
    yield _atomic("long long", -1, "Max", "1ll"), -16 + 1, 0
    yield "(__nanosleep(10), __prof_trigger(0), __threadfence_system(), clock(), clock64() > 0)", 1, 0
    # half precision
    yield "__half2float(__hfma(__float2half(run(1.5f)), __float2half(2), __float2half(0.25f)))", 3.25, 0
    yield "__low2float(__hfma2(__floats2half2_rn(run(1.5f), 1), __float2half2_rn(2), __float2half2_rn(0.25f)))", 3.25, 0
    yield "__half2float(__hadd(__float2half(run(1.5f)), __float2half(2)))", 3.5, 0
    yield "__half2float(hexp(__float2half(run(1.5f))))", float(np.float16(math.exp(1.5))), 1e-3
    yield "__half2float(hsqrt(__float2half(run(4.0f))))", 2, 0
    yield "__high2float(h2rcp(__floats2half2_rn(1, run(4.0f))))", 0.25, 0


SCALARS = list(_scalars())

LANES = np.arange(64)
_WARP = LANES // 32
_ODD = LANES % 2 == 1
TOGETHER: list[tuple[str, np.ndarray]] = [
    (
        "__ballot_sync(~0u, i % 3 == 0)",
        np.array([sum(1 << k for k in range(32) if (32 * w + k) % 3 == 0) for w in _WARP]),
    ),
    ("__any_sync(~0u, i == 40) != 0", _WARP == 1),
    ("__all_sync(~0u, i >= 32) != 0", _WARP == 1),
    ("__match_any_sync(~0u, i % 2)", np.where(_ODD, 0xAAAAAAAA, 0x55555555)),
    ("__match_any_sync(~0u, (i % 2) * 0.5)", np.where(_ODD, 0xAAAAAAAA, 0x55555555)),
    (
        "[=] { int all; auto mask = __match_all_sync(~0u, i / 32, &all); return mask + (all != 0) * 4294967296.0; }()",
        np.full(64, 2.0**33 - 1),
    ),
    ("[=] { int all; auto mask = __match_all_sync(~0u, i, &all); return mask + (all != 0); }()", np.zeros(64)),
    ("__reduce_add_sync(~0u, i)", np.where(_WARP, 1520, 496)),
    ("__reduce_add_sync(~0u, (unsigned)i)", np.where(_WARP, 1520, 496)),
    ("__reduce_min_sync(~0u, -i)", np.where(_WARP, -63, -31)),
    ("__reduce_max_sync(~0u, -i)", np.where(_WARP, -32, 0)),
    ("__reduce_max_sync(~0u, (unsigned)i)", np.where(_WARP, 63, 31)),
    ("__reduce_and_sync(~0u, 96u + i)", np.where(_WARP, 128, 96)),
    ("__reduce_or_sync(~0u, (unsigned)i)", np.where(_WARP, 63, 31)),
    ("__reduce_xor_sync(~0u, 1u << i % 32)", np.full(64, 2**32 - 1)),
    ("__shfl_sync(~0u, i * 0.5, 3)", (32 * _WARP + 3) * 0.5),
    ("__shfl_xor_sync(~0u, (float)i, 1)", LANES ^ 1),
    ("__syncthreads_count(i % 3 == 0)", np.full(64, 22)),
    ("(__syncthreads_and(i >= 0) != 0) + 2 * (__syncthreads_and(i < 63) != 0)", np.ones(64)),
    ("(__syncthreads_or(i > 63) != 0) + 2 * (__syncthreads_or(i == 63) != 0)", np.full(64, 2)),
]
"""Calls of all 64 threads of a block, by `i`, the thread's number; and what each thread gets."""

SOURCE = "\n".join(
    [
        "#include <cuda_fp16.h>",
        "template <class T> __device__ T run(T x) { volatile T later = x; return later; } // not known to the compiler",
        'extern "C" __global__ void alone(float *memory, double *y)',
        "{",
        *(
            f"    for (int i = 0; i < 4; ++i) memory[i] = 1.5f;\n    y[{n}] = (double)({call});"
            for n, (call, *_) in enumerate(SCALARS)
        ),
        "}",
        'extern "C" __global__ void together(double *y)',
        "{",
        "    const int i = threadIdx.x;",
        *(f"    y[{64 * n} + i] = (double)({call});" for n, (call, _) in enumerate(TOGETHER)),
        "}",
    ]
)


def misses(alone: np.ndarray, together: np.ndarray) -> list[str]:
    """The calls with a wrong answer, each with what came. Both arrays hold float64; `together` has 64 columns."""
    wrong = [
        f"{call}: {came!r}, not {right!r}"
        for (call, right, rtol), came in zip(SCALARS, alone.tolist(), strict=True)
        if not abs(came - right) <= rtol * abs(right)
    ]
    return wrong + [
        f"{call}: {came.tolist()}"
        for (call, right), came in zip(TOGETHER, together, strict=True)
        if not np.array_equal(came, right)
    ]
