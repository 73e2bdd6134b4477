"""The judge of the page "Your own kernel": a kernel that smooths, and a case that must refuse wrong ones."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, checking, host, own_kernel, ways


def check_smooth(kernel: str, case: str) -> str:
    """Judge the texts of `smooth(x, y, n)`, which takes a thread for each element, and of its case, by the host way."""
    with tempfile.TemporaryDirectory() as folder:
        mine, given = Path(folder, "smooth.cu"), Path(folder, "smooth_case.py")
        mine.write_text(kernel, encoding="utf-8")
        given.write_text(case, encoding="utf-8")
        try:
            tried = own_kernel.read(mine, given, 10).ways(["host"])
            if why := tried.missing.get("host"):
                return checking.not_yet(RuntimeError(why))
            if told := _weakness(tried):
                return f"Not yet: {told}."
            checking.check(tried)
            y = np.full(9, np.nan, np.float32)
            host.compile(kernel, timeout=10).get_function(tried.kernel)((2,), (2,), (np.ones_like(y), y, np.int32(9)))
        except (checking.CheckFailure, building.BuildError, RuntimeError, TypeError, ValueError) as error:
            return checking.not_yet(error)
    written = np.flatnonzero(~np.isnan(y)).tolist()
    if written != [0, 1, 2, 3]:
        return f"Not yet: all is right, but 2 blocks of 2 threads wrote the elements {written} of 9, expected 0 to 3."
    return "Right: the kernel is right, and your case takes it and refuses four wrong ones."


def _weakness(tried: ways.Ways) -> str:
    """Return which right kernel the case refuses, or which wrong one passes it, or ""."""
    questions = [tried.question(size) for size in tried.sizes or checking.SIZES]

    def refusal(wrong: str) -> str | None:
        def stand_in(_: int, x: np.ndarray, *more: Any) -> None:
            ends = np.pad(x.astype(float), 1)
            means = (ends[:-2] + ends[1:-1] + ends[2:]) / 3
            for end in {0, x.size - 1} if x.size and "thirds" not in wrong else ():
                means[end] = x[max(0, end - 1) : end + 2].mean(dtype=float)
            means[256 if "block" in wrong else x.size :] = np.nan
            more[-1][...] = x if "copies" in wrong else means * (1.1 if "tenth" in wrong else 1)

        return next(filter(None, (checking.verdict(stand_in, "host", *each) for each in questions)), None)

    if told := refusal(""):
        return f"your case refuses a kernel that is right: {told}"
    kinds = "copies x", "takes thirds at the ends, too", "is wrong by a tenth", "writes the first block's 256 elements"
    return next((f"with your case a kernel passes that {kind}" for kind in kinds if not refusal(kind)), "")
