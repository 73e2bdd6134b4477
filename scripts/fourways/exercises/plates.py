"""The judges of lesson 05: do two plates share memory, and which plates have no gaps?"""

import ctypes
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fourways import toolchain
from fourways.exercises.functions import same

_TEXT = """
struct Plate {{ float *data; long long h, w; }};
#line 1 "overlap"
{}
extern "C" bool overlap_of(float *u, long long uh, long long uw, float *v, long long vh, long long vw)
{{
    return overlap(Plate{{u, uh, uw}}, Plate{{v, vh, vw}});
}}
"""


def check_overlap(text: str) -> str:
    """Judge the C++ text of `bool overlap(const Plate &u, const Plate &v)`: do the plates share a float?"""
    memory = np.zeros(400, np.float32)  # so that an answer that reads the plates does no harm
    with TemporaryDirectory(prefix="fourways-") as folder:
        source, library = Path(folder, "overlap.cpp"), Path(folder, "overlap.so")
        source.write_text(_TEXT.format(text))
        words = [str(toolchain.host_compiler()), "-shared", "-fPIC", "-std=c++17", str(source), "-o", str(library)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return f"Not yet: {(re.findall('error: .*', done.stderr) or ['it does not compile'])[0]}"
        function = ctypes.CDLL(str(library)).overlap_of
    function.restype = ctypes.c_bool
    for number in random.sample([*range(7)] * 6, 40):  # each kind of case, in any order
        (uh, uw), (vh, vw) = ([random.randrange(2, 7) for _ in range(2)] for _ in range(2))
        cases = {"u and v are one array": 0, "v begins where u ends": uh * uw, "u begins where v ends": -vh * vw}
        cases |= {"v begins within u": random.randrange(1, uh * uw), "u begins within v": -random.randrange(1, vh * vw)}
        cases |= {"v lies far above u": random.randrange(50, 150), "v lies far below u": -random.randrange(50, 150)}
        case, distance = list(cases.items())[number]
        u, v = memory[150:].ctypes.data, memory[150 + distance :].ctypes.data
        came = function(*map(ctypes.c_int64, (u, uh, uw, v, vh, vw)))
        if came != (-vh * vw < distance < uh * uw):
            return f"Not yet: {case} ({uh} × {uw} and {vh} × {vw} cells), and `overlap` returned {came}."
    return "Right for 40 pairs of plates."


def check_gapless(answer: Callable[[tuple[int, int], tuple[int, int] | None], Any]) -> str:
    """Judge `answer(shape, strides)`: do the floats of a plate of at least one cell lie row by row without gaps?"""

    def right(shape: tuple[int, int], strides: tuple[int, int] | None) -> bool:
        (h, w), (down, across) = shape, strides or (4 * shape[1], 4)
        return (h == 1 or down == 4 * w) and (w == 1 or across == 4)

    def draw() -> tuple[tuple[int, int], tuple[int, int] | None]:
        h, w, gap = random.choice([1, 1, 2, 5]), random.choice([1, 1, 3, 8]), random.choice([1, 2])
        written = random.choice([(4 * gap * w, 4), (4 * gap * w, 4 * gap), (4, 4 * h), (64, 4)])
        return (h, w), random.choice([written] * 7 + [None])

    return same(answer, right, draw, 100)
