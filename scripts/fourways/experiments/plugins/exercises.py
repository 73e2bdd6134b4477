"""The judges of lesson 08's exercises."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking, kernels
from fourways.experiments.plugins.launches import on_the_host
from fourways.experiments.plugins.units import calls_left, compiled, differing, linked, one_source

_NO_INLINE = ("__noinline__", "__attribute__((noinline))")


def check_front_door(accept: Callable[[str], Any]) -> str:
    """Judge `accept(text)`: the linked program of a plug-in that fits and is inlined; ValueError for any other text.

    The plug-ins have other numbers at each try. One that fits writes its parameter otherwise, and its comment has words
    of those that do not. A program must have the machine code of library and plug-in as one text, but must be linked.
    A ValueError must have a message.
    """
    random = np.random.default_rng()
    factor, shift = (f"{number:.3f}f" for number in random.uniform(0.1, 0.9, 2))
    plain = f'extern "C" __device__ float user_transform(float x) {{ return {factor} * x + {shift}; }}'
    division = plain.replace(f"{factor} * x", f"{factor} / value").replace("float x", "const float value")
    right = {"a plug-in that fits": plain, "other names, and a comment": f"// No double, no __noinline__.\n{division}"}
    wrong = {
        "no user_transform": plain.replace("user_transform", "mine"),
        "double for float": plain.replace("float", "double"),
        "a parameter of type int": plain.replace("(float x)", "(int x)"),
        "two parameters": plain.replace("(float x)", "(float x, float y)"),
        "no semicolon": plain.replace(";", ""),
        "__noinline__": plain.replace("__device__", f"__device__ {random.choice(_NO_INLINE)}"),
    }
    names = [*right, *random.permutation(list(wrong)).tolist()]
    for name in sorted(names, key=lambda name: name in wrong and name != "no user_transform"):
        if problem := _at_the_door(accept, (right | wrong)[name], name in right):
            return f"Not yet: {name}: {problem}."
    return f"Right for {len(names)} plug-ins."


def _at_the_door(accept: Callable[[str], Any], text: str, fits: bool) -> str | None:
    try:
        program = accept(text)
    except ValueError as error:
        reason = (str(error).strip().splitlines() or [""])[0][:80]
        if fits:
            return f"it was refused ({reason or 'no reason'})"
        return None if reason else "ValueError came without a reason"
    except Exception as error:
        return f"{type(error).__name__} came, wanted {'a program' if fits else 'ValueError'}"
    if not fits:
        return "it was let in"
    whole = one_source(kernels.source("apply_transform"), text)
    if getattr(program, "name", "") == whole.name:  # a linker gives another name
        return "the library's text was compiled again; link its LTO-IR instead"
    try:
        lines = differing(whole, program)
    except Exception:
        return "what came is no linked program"
    return f"{lines} lines differ from library and plug-in compiled as one text" if lines else None


_TELLING = """
extern "C" __device__ float user_transform_times(float x, int times) { return x + 131072 + times; }
"""
"""A plug-in whose result tells how often it was called, and with which numbers in sum."""
_ASKING = """
extern "C" __device__ float user_transform_times(float x, int times);
extern "C" __global__ void apply_transform(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = user_transform_times(x[i], 1 + i % 100);
}
"""
"""A library that asks a plug-in for 1 to 100 repetitions."""


def check_one_call(library: str, plugin: str) -> str:
    """Judge a library's kernel `apply_transform(x, y, n)` and a plug-in `user_transform_times(x, times)`.

    Together they must compute y = 0.99 x + 0.5, 64 times. The kernel must call the plug-in once for each element, which
    is looked for in the code linked as PTX, and by the host way with another plug-in, which tells its calls. The
    plug-in must repeat its step as often as it is asked, which another library tries.
    """
    if not all(isinstance(text, str) for text in (library, plugin)) or "apply_transform" not in library:
        return "Not yet: the library has no kernel `apply_transform`."
    x = np.random.default_rng().integers(1, 9, 777).astype(np.float32)
    right = 0.99**64 * x + 50 * (1 - 0.99**64)
    try:
        y = _applied(plugin + library, x)
        if (wrong := np.flatnonzero(~np.isclose(y, right, rtol=1e-5))).size:
            return f"Not yet: element {wrong[0]} is {y[wrong[0]]:.5g}, expected {right[wrong[0]]:.5g}."
        calls, times = np.divmod(_applied(_TELLING + library, x) - x, 131072)
        asked = _applied(plugin + _ASKING, x)
        left = calls_left(linked(*(compiled(text, "ptx") for text in (library, plugin))))
    except (RuntimeError, ValueError) as error:  # of a compiler, a linker or a kernel
        return checking.not_yet(error)
    if (calls == 1).all() and (times == 64).all():
        power = 0.99 ** (1 + np.arange(x.size) % 100)
        if not np.allclose(asked, power * x + 50 * (1 - power), rtol=1e-5):
            return "Not yet: the numbers are right for 64 repetitions, but not for other numbers from 1 to 100."
        return "Right: one call for each element."
    if not (calls == calls[0]).all() or calls[0] < 1:
        return "Not yet: the numbers are right, but they do not come from the plug-in."
    if calls[0] == 1:
        return f"Not yet: the numbers are right, but the plug-in is asked for {times[0]:.0f} repetitions, not for 64."
    if left == 1:
        return f"Not yet: one CALL stands in the machine code, but a loop runs it {calls[0]:.0f} times for an element."
    return f"Not yet: the numbers are right, but an element takes {calls[0]:.0f} calls."


def _applied(text: str, x: np.ndarray) -> np.ndarray:
    y = np.full_like(x, np.nan)
    on_the_host(text, "apply_transform")((4,), (256,), (x, y, np.int64(x.size)))
    return y
