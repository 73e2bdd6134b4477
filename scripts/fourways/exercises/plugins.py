"""The judges of lesson 08's exercises: one call for each element, and a front door for plug-ins. They need no GPU."""

import random

import numpy as np

from fourways import linking
from fourways.exercises.functions import Answer, run_kernel, same

_COUNTS = 'extern "C" __device__ float user_transform_times(float x, int times) { return x + 1000 + times; }\n'


def check_one_call(library: str, plugin: str) -> str:
    """Judge a kernel `apply_transform(x, y, n)`, and a plug-in that it must call once for CALLS repetitions.

    The host way runs them, and then the kernel with a plug-in whose results tell how often it was called.
    """
    times, plugins = random.randrange(65, 100), iter([plugin, _COUNTS])

    def applied(plugin: str, x: np.ndarray) -> np.ndarray:
        y = np.full_like(x, np.nan)
        options = (f"-DCALLS={times}",)
        run_kernel(plugin + library, "apply_transform", (1,), (32,), x, y, np.int64(x.size), options=options)
        return y

    def right(plugin: str, x: np.ndarray) -> np.ndarray:
        return x + 1000 + times if plugin == _COUNTS else 0.99**times * x + 50 * (1 - 0.99**times)

    def draw() -> tuple[str, np.ndarray]:
        return next(plugins), np.array(random.sample(range(9), 4), np.float32)

    hint = f"CALLS is {times}. The judge's own plug-in adds 1000 + times at each call."
    return same(applied, right, draw, 2, rtol=1e-5, hint=lambda *_: hint)


def check_front_door(accept: Answer) -> str:
    """Judge `accept(text)`: a program without a call for a plug-in that fits, ValueError with a reason for others."""
    factor = f"{random.uniform(0.1, 0.9):.3f}f"
    fits = f'extern "C" __device__ float user_transform(float x) {{ return {factor} * x + {factor}; }}'
    plugins = {
        "one that fits": fits,
        "no user_transform": fits.replace("user_transform", "mine"),
        "double for float": fits.replace("float", "double"),
        "no semicolon": fits.replace(";", ""),
        "__noinline__": fits.replace("__device__", "__device__ __noinline__"),
    }

    def accepted(plugin: str) -> str:
        try:
            return f"a program with {linking.calls_left(accept(plugins[plugin]).code, 'apply_transform')} calls"
        except ValueError:
            return "ValueError"

    def right(plugin: str) -> str:
        return "a program with 0 calls" if plugin == "one that fits" else "ValueError"

    drawn = iter(plugins)
    return same(accepted, right, lambda: (next(drawn),), len(plugins))
