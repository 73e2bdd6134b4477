"""Advice: the candidates that a situation leaves, then their times, then what follows from both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fourways.experiments.choosing.answer import choose
from fourways.experiments.choosing.model import Cost
from fourways.experiments.choosing.results import context_bytes, plug_in_seconds
from fourways.experiments.choosing.situation import CUBIN, Candidate, Situation, candidates, excluded
from fourways.tables import Row, Table, seconds

SMALL_SECONDS = 60.0
"""Smaller differences, in seconds a day, do not matter."""


class Advice(NamedTuple):
    """The advice for a situation: the candidate to take, or None; the reasons; the tables behind them.

    `out` lists the candidates that the situation rules out. `times` is `choose`'s table of the others, or None.
    """

    take: str | None
    sentences: list[str]
    out: Table
    times: Table | None

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def advise(
    situation: Situation,
    costs: Mapping[str, Cost],
    kernel: float,
    launches: int,
    runs: int = 1,
    cold_runs: int = 0,
    edits: int = 0,
) -> Advice:
    """Choose for a situation and a program. The numbers are those of `choose`; `runs` and `edits` are those of a day.

    Of the candidates that the situation leaves, those count as equal that the measurements cannot tell from the best,
    that differ from it by less than SMALL_SECONDS a day, or that were not timed. Of these the one with the fewest
    parts is taken. Raises ValueError as `choose` does.
    """
    reasons = excluded(situation)
    left = {name: each for name, each in candidates().items() if name not in reasons}
    timed = {name: cost for name, cost in _with_cubin(costs).items() if name in left}
    times = choose(timed, kernel, launches, runs, cold_runs, edits, situation.nodes) if timed else None
    late = {name: cost for name, cost in timed.items() if situation.within and cost.high > situation.within}
    if len(late) < len(timed):
        reasons |= {name: f"its first result takes {seconds(cost.start)} (measured)" for name, cost in late.items()}
    rows = [row for row in times.rows if row["way"] not in reasons] if times else []
    equal = [name for name in left if name not in reasons and _is_equal(name, rows)]
    take = min(equal, key=lambda name: len(left[name].parts), default=None)
    sentences = []
    if take:
        sentences.append(f"Take {take}: {left[take].label}. {_why(left[take], equal, rows)}")
        sentences += _on_time(rows, timed.get(take), kernel)
        sentences += _on_candidate(left[take], situation)
    else:
        sentences.append("Nothing fits: each candidate is ruled out for the reason above.")
    sentences += _on_situation(situation, late if len(late) == len(timed) else {})
    ruled_out = [{"way": name, "reason": reason} for name, reason in reasons.items()]
    return Advice(take, sentences, Table("out", ruled_out, [("out", "way"), ("because", "reason")]), times)


def _with_cubin(costs: Mapping[str, Cost]) -> Mapping[str, Cost]:
    """Add the cost of a cubin: that of CuPy with NVRTC, without the build."""
    built = costs.get("nvrtc")
    if not built or CUBIN in costs:
        return costs
    build = built.stages.get("build", 0.0)
    stages = {name: length for name, length in built.stages.items() if name != "build"}
    low, high = built.low - build, built.high - build
    return {**costs, CUBIN: replace(built, name=CUBIN, stages=stages, low=low, high=high, cold=0.0)}


def _is_equal(name: str, rows: Sequence[Row]) -> bool:
    """Return whether nothing measured speaks against a candidate."""
    row = next((each for each in rows if each["way"] == name), None)
    if not row:
        return True
    more = row["total_seconds"] - rows[0]["total_seconds"]
    return row["low_seconds"] <= rows[0]["high_seconds"] or more < SMALL_SECONDS


def _why(taken: Candidate, equal: Sequence[str], rows: Sequence[Row]) -> str:
    if others := ", ".join(name for name in equal if name != taken.name):
        parts = " and ".join(taken.parts) or "nothing besides CuPy and the source"
        return f"It needs the fewest parts ({parts}), and no measurement favours {others}."
    later = [row for row in rows if row["way"] != taken.name]
    if not later:
        return "It alone is left."
    more = seconds(later[0]["total_seconds"] - rows[0]["total_seconds"])
    return f"{later[0]['way']}, the next, takes {more} a day more (measured on {rows[0]['origin']})."


def _on_time(rows: Sequence[Row], cost: Cost | None, kernel: float) -> Iterator[str]:
    if not rows or not cost:
        return
    asked = rows[0]
    work = seconds(asked["runs"] * (1 + asked["launches"]) * kernel)
    apart = rows[-1]["total_seconds"] - rows[0]["total_seconds"]
    if len(rows) > 1:
        verdict = f". Below {seconds(SMALL_SECONDS)} the time does not matter" if apart < SMALL_SECONDS else ""
        together = f", all {asked['nodes']} machines together," if asked["nodes"] > 1 else ""
        yield (
            f"A GPU works {work} a day, and the slowest candidate takes{together} {seconds(apart)} a day more than the "
            f"fastest{verdict} (measured on {asked['origin']})."
        )
    if asked["edits"]:
        yield f"With it, a change of the kernel takes {seconds(cost.edit)} until the next result (lesson 00)."
    if cost.launch > kernel and asked["launches"] * cost.launch > cost.start:
        yield (
            f"A launch keeps the host busy for {seconds(cost.launch)}, the kernel the GPU for {seconds(kernel)} only: "
            "a CUDA graph queues many launches by one call (lesson 11)."
        )


def _on_candidate(taken: Candidate, situation: Situation) -> Iterator[str]:
    if taken.is_built_ahead and situation.gpus != "known":
        yield "Ship PTX beside the machine code, for GPUs that you did not name (lesson 13)."
    if taken.is_per_python and situation.wheels > 1:
        yield f"It needs {situation.wheels} wheels; with the stable ABI, {situation.systems} (lesson 12)."
    if not taken.is_built_ahead and situation.nodes > 1:
        yield (
            f"If the caches are empty, all {situation.nodes} machines compile, with one shared cache, too: fill it "
            "before, or send the machine code (page Caches and storms)."
        )
    if not taken.is_built_ahead and situation.callers == "strangers":
        yield "When its users' first starts come to matter, ship cubins and PTX of the same source (lesson 13)."


def _on_situation(situation: Situation, late: Mapping[str, Cost]) -> Iterator[str]:
    if late:
        first = min(late.values(), key=lambda cost: cost.start)
        fixed = sum(first.stages.get(stage, 0.0) for stage in ("start", "import", "context"))
        yield (
            f"No process gives a first result {seconds(situation.within or 0)} after its start: the fastest takes "
            f"{seconds(first.start)}; the interpreter, imports and the context alone take {seconds(fixed)} "
            f"(measured on {first.origin}). Keep a process running that has launched the kernel once."
        )
    if situation.text == "run-time":
        yield "A formula of single elements needs no kernel: `cupy.ElementwiseKernel` takes it (lesson 02)."
        if situation.callers == "plug-in" and (took := plug_in_seconds()):
            source, linked = map(seconds, took)
            yield (
                f"If your own part is slow to compile, ship it as LTO-IR: with CUB in it, a formula took {linked} "
                f"instead of {source} (lesson 08)."
            )
    if situation.sharing > 1:
        count, held, each = situation.sharing, context_bytes(), ""
        if held:
            each = f": {held / 2**20:.0f} MiB each on the recorded GPU, {count * held / 1e9:.1f} GB in all"
        yield (
            f"{count} processes on a GPU hold {count} contexts{each} (page PyCUDA beside CuPy). Their kernels "
            "take turns, unless NVIDIA's MPS runs them side by side (lesson 14)."
        )
    if situation.offline:
        yield "`fourways wheelhouse` collects the wheels to carry; no way fetches any later (page Installation)."
    if situation.gpus == "newer":
        yield "Or update the toolkit, and with it NVRTC, to a version that knows the GPUs (lesson 13)."
