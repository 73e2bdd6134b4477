"""Constraints: what decides between the ways before any time does."""

from dataclasses import dataclass
from typing import NamedTuple

from fourways.ways import WAYS

TEXTS = ("fixed", "run-time")
CALLERS = ("me", "class", "strangers", "plug-in")
COMPILERS = ("none", "nvrtc", "nvcc")
CUBIN = "cubin"
GPUS = ("known", "unknown", "newer")


@dataclass(frozen=True)
class Situation:
    """The users of a kernel and their machines. The defaults describe one person's own machine.

    `text`: the kernel's text is "fixed", or known at "run-time" only, as a formula that users type.
    `callers`: "me", a "class", "strangers" who install it by pip, or a "plug-in" host that takes its users' code.
    `compiler`: what the users' machines can compile with. "nvrtc" comes as a wheel; "nvcc" stands for the CUDA Toolkit
    and a C++ compiler. Default: "nvcc" for me and a class, else "nvrtc".
    `gpus`: "known", "unknown", or "newer" than the toolkit. Default: known for me and a class, else unknown.
    `pythons` and `systems`: how many versions of Python and operating systems the users have.
    `nodes`: the machines that start a run at the same time. `sharing`: the processes on one GPU.
    `within`: the seconds after its start in which a process must give its first result, or None.
    `offline`: the users' machines have no internet.
    """

    text: str = "fixed"
    callers: str = "me"
    compiler: str = ""
    gpus: str = ""
    pythons: int = 1
    systems: int = 1
    nodes: int = 1
    sharing: int = 1
    within: float | None = None
    offline: bool = False

    def __post_init__(self) -> None:
        others = self.callers in ("strangers", "plug-in")
        object.__setattr__(self, "compiler", self.compiler or ("nvrtc" if others else "nvcc"))
        object.__setattr__(self, "gpus", self.gpus or ("unknown" if others else "known"))
        for name, choices in (("text", TEXTS), ("callers", CALLERS), ("compiler", COMPILERS), ("gpus", GPUS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}: {getattr(self, name)!r}; choose from {', '.join(choices)}")
        for name in ("pythons", "systems", "nodes", "sharing"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)}; expected at least 1")

    @property
    def wheels(self) -> int:
        """The wheels that a module needs which is built for one version of Python and one system."""
        return self.pythons * self.systems


class Candidate(NamedTuple):
    """A way, or another form in which a kernel is shipped. Users' machines need its `compiler`, of COMPILERS."""

    name: str
    label: str
    compiler: str
    is_built_ahead: bool = False
    is_per_python: bool = False
    has_wheels: bool = True
    links: bool = False

    @property
    def parts(self) -> list[str]:
        """Return what has to be maintained besides CuPy and the kernel's source. The fewer parts, the simpler."""
        named = {
            "a build before it is shipped": self.is_built_ahead,
            "a wheel for each Python and system": self.is_per_python,
            "nvcc and a C++ compiler on each machine": self.compiler == "nvcc",
            "a library that pip builds": not self.has_wheels,
            "two texts that are linked": self.links,
        }
        return [part for part, is_needed in named.items() if is_needed]


def candidates() -> dict[str, Candidate]:
    """Return all candidates by name: the ways on a GPU, then cubins and LTO-IR."""
    ways = {
        way.name: Candidate(
            name=way.name,
            label=way.label,
            compiler="none" if way.is_shipped_built else "nvcc" if "nvcc" in way.needs else "nvrtc",
            is_built_ahead=way.is_shipped_built,
            is_per_python=way.is_shipped_built,
            has_wheels=way.name != "pycuda",
        )
        for way in WAYS.values()
        if not way.on_host
    }
    cubin = Candidate(CUBIN, "a cubin, loaded by CuPy", "none", is_built_ahead=True)
    lto = Candidate("lto", "LTO-IR, linked at run time", "nvrtc", links=True)
    return ways | {each.name: each for each in (cubin, lto)}


def excluded(situation: Situation) -> dict[str, str]:
    """Return the candidates that the situation rules out, each with the reason and the lesson that shows it."""
    return {name: reason for name, each in candidates().items() if (reason := _reason(each, situation))}


def _reason(candidate: Candidate, situation: Situation) -> str:
    is_typed = situation.text == "run-time"
    if candidate.is_built_ahead and is_typed:
        return "it is compiled before it is shipped, and the text is known at run time only (lesson 02)"
    if candidate.links and not (is_typed and situation.callers == "plug-in"):
        return "it links code that users bring with yours, and nobody brings any (lesson 08)"
    if COMPILERS.index(candidate.compiler) > COMPILERS.index(situation.compiler):
        needed = {"nvrtc": "NVRTC", "nvcc": "nvcc and a C++ compiler"}[candidate.compiler]
        return f"it needs {needed} on the users' machines (lesson 01)"
    if not candidate.has_wheels and situation.callers == "strangers":
        return "it has no wheels: pip compiles it on each user's machine (page PyCUDA beside CuPy)"
    if situation.gpus == "newer" and not candidate.is_built_ahead:
        return "its compiler makes machine code only for GPUs that it knows; newer ones need PTX (lesson 13)"
    return ""
