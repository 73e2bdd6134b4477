"""The judges of lesson 13's exercises."""

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fourways import toolchain
from fourways.experiments.shipping.wheels import LIBRARIES


def check_pick(function: Callable[[Sequence[str], str], Any]) -> str:
    """Judge `function(held, gpu)`: the code that starts fastest on a GPU, or None if none of those held starts.

    Machine code comes before PTX, and newer code before older. It is tried on chosen and on random wheels and GPUs.
    """
    numbers = np.random.default_rng()
    known = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_120a"]
    known += ["compute_75", "compute_80", "compute_90a", "compute_100", "compute_100f"]
    wheel = ["sm_80", "compute_75", "sm_86", "sm_90a", "sm_100f"]
    cases = [(wheel, gpu) for gpu in ("sm_90", "sm_86", "sm_103", "sm_120", "sm_75", "sm_70", "sm_89")]
    cases += [(["sm_80", "sm_90"], "sm_120"), (["compute_90", "compute_100"], "sm_120"), (["sm_120a"], "sm_121")]
    cases += [(["sm_80", "sm_86"], "sm_80"), (["compute_90a"], "sm_103"), (["compute_100f"], "sm_121")]
    for _ in range(57):
        held = [str(name) for name in numbers.permutation(known)[: int(numbers.integers(1, 7))]]
        cases.append((held, str(numbers.choice(["sm_75", "sm_80", "sm_89", "sm_90", "sm_103", "sm_110", "sm_121"]))))
    for held, gpu in cases:
        answer = function(list(held), gpu)
        if problem := _misfit(answer, held, gpu):
            return f"Not yet: of {', '.join(held)}, {answer!r} came for {gpu}. {problem}"
    return f"Right for {len(cases)} wheels and GPUs."


def _misfit(answer: Any, held: Sequence[str], gpu: str) -> str:
    """Return what is wrong with an answer to exercise 1, or ""."""
    fits = [name for name in held if toolchain.runs_on([name], gpu)]
    if answer is None:
        return "One of them does start there." if fits else ""
    if answer not in held:
        return "The wheel does not hold that."
    if answer not in fits:
        if answer.endswith("a"):
            return "An `a` starts on the very GPU that it names, and on no other."
        if int(re.sub(r"\D", "", answer)) > int(gpu.removeprefix("sm_")):
            return "That code is for newer GPUs."
        return "Machine code never crosses a major version; PTX does."
    best = max(map(_rank, fits))
    if _rank(answer)[0] < best[0]:
        return "PTX must be compiled first; some machine code starts at once."
    return "Newer code is held that starts there, too." if _rank(answer) < best else ""


def _rank(name: str) -> tuple[bool, int]:
    return name.startswith("sm_"), int(re.sub(r"\D", "", name))


def check_rpath(function: Callable[[str], Any]) -> str:
    """Judge `function(module)`: an RPATH by which a module below site-packages finds `nvidia/cu13/lib`.

    `module` is a path such as "heat/_heat.so". The loader's rules are followed for modules at chosen and random depths
    in two site-packages: it puts the module's folder for $ORIGIN, and takes other relative folders from the current
    one.
    """
    numbers = np.random.default_rng()
    modules = ["heat/_heat.so", "heat/backends/_heat.so", "_heat.so"]
    for _ in range(20):
        depth = int(numbers.integers(1, 12))
        modules.append("/".join(f"part{number}" for number in range(depth)) + "/_heat.so")
    for module in modules:
        answer = function(module)
        if not isinstance(answer, str) or not answer:
            return f"Not yet: {module}: {answer!r} is not a str with a folder."
        if answer.count(":") > 1:
            return f"Not yet: {module}: {answer} lets the loader search many folders; one is enough."
        for site in ("/home/ada/venv/lib/python3.12/site-packages", f"/opt/{numbers.integers(10**6)}/site-packages"):
            origin = posixpath.dirname(f"{site}/{module}")
            if re.search(r"[^./]/+\.\.(/|$)", answer.replace("$ORIGIN", "..").replace("${ORIGIN}", "..")):
                return f"Not yet: {module}: {answer} goes through a folder that need not exist."
            places = [re.sub(r"\$ORIGIN|\$\{ORIGIN\}", origin, entry) for entry in answer.split(":")]
            if f"{site}/{LIBRARIES}" in map(posixpath.normpath, places):
                continue
            if any(entry.startswith("/") for entry in answer.split(":")):
                return f"Not yet: {module}: {answer} is one machine's folder, and on another the library is elsewhere."
            if "ORIGIN" not in answer:
                return f"Not yet: {module}: {answer} begins at the current folder, wherever the user is at the time."
            looked = posixpath.relpath(posixpath.normpath(places[0]), site)
            return f"Not yet: {module}: the loader would look in site-packages/{looked}."
    return f"Right for {len(modules)} modules."
