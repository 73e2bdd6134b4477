"""The judges of lesson 08's exercises: one call for each element, and a front door for plug-ins. They need no GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fourways import checking, host, linking

_COUNTS = 'extern "C" __device__ float user_transform_times(float x, int times) { return x + 65536 + times; }\n'


def check_one_call(library: str, plugin: str) -> str:
    """Judge a kernel `apply_transform(x, y, n)`, and a plug-in that it must call once for CALLS repetitions.

    The host way runs them, and then the kernel with a plug-in whose results tell how often it was called.
    """
    draw = np.random.default_rng()
    times, x = int(draw.integers(65, 100)), draw.integers(1, 9, 777).astype(np.float32)
    right = 0.99**times * x + 50 * (1 - 0.99**times)
    try:
        y, counted = (_applied(unit + library, x, times) for unit in (plugin, _COUNTS))
    except (host.CompileError, host.KernelError) as error:
        return checking.not_yet(error)
    calls, asked = (int(each[0]) for each in np.divmod(counted - x, 65536))
    for i in np.flatnonzero(~np.isclose(y, right, rtol=1e-5)):
        return f"Not yet: CALLS is {times}, and element {i} is {y[i]:.5g}, expected {right[i]:.5g}."
    if (calls, asked) == (1, times):
        return "Right: one call for each element."
    told = f"asks the plug-in for {asked} of {times} repetitions" if calls == 1 else f"takes {calls} calls"
    return f"Not yet: the numbers are right, but an element {told}."


def _applied(text: str, x: np.ndarray, times: int) -> np.ndarray:
    y = np.full_like(x, np.nan)
    kernel = host.compile(text, (f"-DCALLS={times}",), timeout=10).get_function("apply_transform")
    kernel((4,), (256,), (x, y, np.int64(x.size)))
    return y


def check_front_door(accept: Callable[[str], Any]) -> str:
    """Judge `accept(text)`: a program without a call for a plug-in that fits, ValueError with a reason for others."""
    factor, shift = np.random.default_rng().uniform(0.1, 0.9, 2)
    plain = f'extern "C" __device__ float user_transform(float x) {{ return {factor:.3f}f * x + {shift:.3f}f; }}'
    right = {"one that fits": plain, "two statements": plain.replace("return", "const int half = x / 2; return half +")}
    wrong = {
        "no user_transform": plain.replace("user_transform", "mine"),
        "double for float": plain.replace("float", "double"),
        "a parameter of type int": plain.replace("float x", "int x"),
        "no semicolon": plain.replace(";", ""),
        "__noinline__ in a macro": "#define KEPT __noinline__\n" + plain.replace("__device__", "__device__ KEPT"),
    }
    for name, text in (right | wrong).items():
        told = "it was let in"
        try:
            program = accept(text)
            if name in right:
                calls = linking.calls_left(program.code, "apply_transform")
                told = f"{calls} calls are left" if calls else ""
        except ValueError as error:
            told = f"it was refused ({error})" if name in right else "" if str(error) else "ValueError has no reason"
        except Exception as error:
            told = f"{type(error).__name__} came, expected {'a program' if name in right else 'ValueError'}"
        if told:
            return f"Not yet: {name}: {told}."
    return f"Right for {len(right | wrong)} plug-ins."
