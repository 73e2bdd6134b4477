"""The machine code of several ways, listed, counted and compared; and the search for the option that changes it."""

import difflib
import itertools
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourways import building, figures
from fourways.sass import opcodes
from fourways.sass.disassembly import Instruction, SassError, disassemble, parse
from fourways.tables import Column, Row, Table
from fourways.ways import WAYS

_REGISTER = re.compile(r"\b(U?[RP]|B)(\d+)\b")


class Listing(list[Instruction]):
    """The instructions of a kernel file, built by the compiler, architecture and options of the list `recipe`.

    `way` is the name of the build; `entry` is the listed function, or None for all. Raises SassError if the machine
    code has no such function.
    """

    def __init__(self, path: Path, way: str, recipe: Sequence[str], entry: str | None) -> None:
        compiler, arch, *options = recipe
        self.path, self.way, self.recipe, self.arch, self.entry = path, way, recipe, arch, entry
        lines = parse(disassemble(building.build(path, compiler, arch, options=options).code))
        super().__init__(line for line in lines if building.is_entry(line.entry, entry))
        if not self:
            there = ", ".join(dict.fromkeys(line.entry for line in lines)) or "none"
            raise SassError(f"{path.name} has no entry point{f' {entry!r}' if entry else ''}; there are: {there}")


def listing(
    path: Path | str, way: str, arch: str = "sm_90", entry: str | None = None, more: Sequence[str] = ()
) -> Listing:
    """Return the machine code of the kernel file `path` as `way` builds it: of the function `entry`, or of all.

    `way` may carry options: "pycuda --fmad=false". The options `more` belong to the kernel, and go to every way.

    Raises ValueError for an unknown way, SassError for a missing `entry`, BuildError if the compiler refuses.
    """
    try:
        name, *own = shlex.split(way) or [""]
    except ValueError as error:  # an unclosed quotation
        raise ValueError(f"{way}: {error}") from None
    if name not in ways() or not (recipe := WAYS[name].recipe):
        raise ValueError(f"no way {name!r} that makes machine code; there are: {', '.join(ways())}")
    compiler, options = recipe
    own = own or WAYS[name].default_flags()
    return Listing(Path(path), way, [compiler, f"sm_{arch.removeprefix('sm_')}", *options, *more, *own], entry)


def ways() -> list[str]:
    """Return the ways that make machine code."""
    return [name for name, way in WAYS.items() if way.recipe]


def listings(
    path: Path | str,
    names: Sequence[str],
    archs: Sequence[str] = ("sm_90",),
    entry: str | None = None,
    more: Sequence[str] = (),
) -> tuple[list[Listing], dict[str, str]]:
    """Return the listings by every way for every architecture, and the refusals: one line for each "nvrtc sm_90".

    `names` are the ways, each with or without options, by default all that make machine code.
    Raises as `listing` does, but BuildError only if every compiler refuses, with the first one's message.
    """
    listed, refused, first = list[Listing](), dict[str, str](), None
    for arch in archs:
        for way in names or ways():
            try:
                listed.append(listing(path, way, arch, entry, more))
            except building.BuildError as refusal:
                first = first or refusal
                refused[f"{way} sm_{arch.removeprefix('sm_')}"] = refusal.brief
    if first and not listed:
        raise first
    return listed, refused


def counts(listings: Sequence[Listing], refused: Mapping[str, str] | None = None) -> Table:
    """Count the instructions of each kind in the machine code: a row for each function and kind, "all" first.

    A row's "counts" are by way and architecture, `{"nvrtc sm_90": 2}`. An instruction counts once, however often a
    thread executes it. A kind without any instruction has no row. The first row also has "made", the compiler and
    options of each way, and `refused`.
    """
    builds = {f"{listed.way} {listed.arch}": listed for listed in listings}
    by_entry: dict[str, dict[str, Counter[str]]] = {}
    for name, listed in builds.items():
        for line in listed:
            by_entry.setdefault(line.entry, {each: Counter() for each in builds})[name].update((line.kind, "all"))
    rows = []
    for entry, by_build in by_entry.items():
        for kind in ("all", *opcodes.KINDS):
            by_name = {name: count[kind] for name, count in by_build.items()}
            if any(by_name.values()):
                rows.append({"entry": entry, "kind": kind, "counts": by_name})
    made = {listed.way: " ".join([listed.recipe[0], *listed.recipe[2:]]) for listed in listings}
    rows[0] |= {"made": made, "refused": dict(refused or {})}
    return table(rows)


def table(rows: Sequence[Row]) -> Table:
    """Show the rows of `counts`."""
    columns: list[Column] = ["entry", "kind"] if len({row["entry"] for row in rows}) > 1 else ["kind"]
    for name in rows[0]["counts"]:
        columns.append((name, lambda row, name=name: str(row["counts"][name])))  # type: ignore[misc]
    lines = [f"{way}: made by {recipe}" for way, recipe in rows[0].get("made", {}).items()]
    refused: dict[str, list[str]] = defaultdict(list)
    for name, reason in rows[0].get("refused", {}).items():
        refused[reason].append(name)
    lines += [f"{', '.join(names)}: refused: {reason}" for reason, names in refused.items()]
    return Table("sass", rows, columns, "\n".join(lines))


def figure(rows: Sequence[Row], title: str) -> Any:
    """Draw the rows of `counts`: a panel for each function, in it a bar of kinds for each way and architecture."""
    panels: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        for name, count in row["counts"].items() if row["kind"] != "all" else ():
            panels[row["entry"]][name][row["kind"]] = count
    return figures.stacked_bars(panels, "instructions in the machine code", title, show=lambda total: f"{total:.0f}")


@dataclass(frozen=True)
class Diff:
    """Two listings side by side: `pairs` of lines, None for a missing line. `str()` marks them as `diff -y` does."""

    pairs: list[tuple[str | None, str | None]]

    @property
    def differences(self) -> int:
        """The number of lines that differ; 0 if the machine code is the same."""
        return sum(left != right for left, right in self.pairs)

    def __str__(self) -> str:
        width = max((len(left or "") for left, _ in self.pairs), default=0)
        lines = []
        for left, right in self.pairs:
            mark = " " if left == right else ">" if left is None else "<" if right is None else "|"
            lines.append(f"{left or '':{width}} {mark} {right or ''}".rstrip())
        return "\n".join(lines)


def diff(a: Sequence[Instruction], b: Sequence[Instruction], rename: bool = False) -> Diff:
    """Compare two listings line by line, without addresses.

    With `rename` the registers of each listing are numbered in order of appearance, so that only the choice of
    registers makes no difference.
    """
    left, right = _lines(a, rename), _lines(b, rename)
    pairs: list[tuple[str | None, str | None]] = []
    for _, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        pairs += itertools.zip_longest(left[i:j], right[k:m])
    return Diff(pairs)


def _lines(listed: Sequence[Instruction], rename: bool) -> list[str]:
    lines = []
    for entry, instructions in itertools.groupby(listed, lambda line: line.entry):
        texts = [str(line) for line in instructions]
        lines += [f"{entry}:", *(_renamed(texts) if rename else texts)]
    return lines


def _renamed(texts: Sequence[str]) -> list[str]:
    numbers: dict[str, dict[str, int]] = defaultdict(dict)

    def by_appearance(match: re.Match[str]) -> str:
        seen = numbers[match[1]]
        return f"{match[1]}{seen.setdefault(match[2], len(seen))}"

    return [_REGISTER.sub(by_appearance, text) for text in texts]


def explain(first: Listing, second: Listing) -> str:
    """Find the options that make the machine code of two listings differ, and return a report of a few lines.

    Builds the second listing again with one change towards the first: an option added, removed or of another value,
    the other compiler, or the other architecture. Each change is tried alone, then each pair, and so on, until the
    machine code is that of the first. Each option must be one word: `-Xptxas=-O1`. Raises as `listing` does.
    """
    a, b = first.recipe, second.recipe
    report = [f"first:  {first.way} = {' '.join(a)}", f"second: {second.way} = {' '.join(b)}"]
    differing = diff(first, second).differences
    if not differing:
        return "\n".join([*report, f"The machine code is the same: {len(first)} instructions."])
    report.append(f"{_differ(differing)}. The second again, changed towards the first:")
    changes = _changes(a, b)
    for size in range(1, len(changes) + 1):
        causes = []
        for chosen in itertools.combinations(changes, size):
            name = ", ".join(f"{new} for {old}" if old and new else new or f"without {old}" for old, new in chosen)
            try:
                again = Listing(second.path, second.way, _changed(a, b, chosen), second.entry)
                outcome = _differ(diff(first, again).differences)
            except building.BuildError:
                outcome = "the compiler refuses"
            report.append(f"  {name}: {outcome}")
            if outcome == _differ(0):
                causes.append(name)
        if causes:
            return "\n".join([*report, f"What makes the difference: {', or as well '.join(causes)}"])
    return "\n".join([*report, "None of that makes them the same: look at options given twice, and at their order."])


def _differ(lines: int) -> str:
    return f"{lines} line{'s differ' if lines > 1 else ' differs'}" if lines else "the same machine code"


def _changes(a: Sequence[str], b: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of a word of b and the word of a that replaces it; "" stands for no word."""
    gone, changes = [word for word in b[2:] if word not in a[2:]], []
    for new in (word for word in a[2:] if word not in b[2:]):
        old = next((word for word in gone if word.partition("=")[0] == new.partition("=")[0]), "")
        gone = [word for word in gone if word != old]
        changes.append((old, new))
    changes += [(old, "") for old in gone]
    return changes + [(old, new) for old, new in zip(b[:2], a[:2], strict=True) if old != new]


def _changed(a: Sequence[str], b: Sequence[str], changes: Sequence[tuple[str, str]]) -> list[str]:
    swap = dict(changes)
    words = [swap.get(word, word) for word in b] + [new for old, new in changes if not old]
    # keep the first build's order, which matters if two options contradict each other
    return words[:2] + sorted(filter(None, words[2:]), key=[*a, *b].index)
