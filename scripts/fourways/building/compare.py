"""A kernel built by several compilers for several architectures, side by side."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any

from fourways import figures, kernels, toolchain
from fourways.building.artefacts import ALL_COMPILERS, ARTEFACTS, Binding, Maker, make
from fourways.building.compile import BuildError, build, is_entry
from fourways.building.packages import NotOfferedError
from fourways.building.resources import Resources
from fourways.tables import Column, Row, Table, seconds, summary

_RESOURCES = tuple(field.name for field in fields(Resources))


def rows(
    path: Path,
    names: Sequence[str] = ALL_COMPILERS,
    archs: Sequence[str] = ("sm_90",),
    options: Sequence[str] = (),
    entry: str | None = None,
    tell: Callable[[str], Any] = lambda _: None,
    binding: Binding | None = None,
    own: Mapping[str, Maker] = {},
) -> list[Row]:
    """Build the kernel file `path` by each compiler for each architecture, and return a row for each build.

    With nvcc and several architectures one more row is the fatbin for all of them.
    `seconds` and `cached_seconds` are median, p10 and p90 by the host's clock, as `make` defines them. `*_bytes` are
    the artefacts' sizes. `registers`, `shared_bytes`, `stack_bytes` and `spill_bytes` are the resources of `entry`,
    or without it the largest of any entry point. A value that a compiler does not give is None, and `missing` says
    why. `not_built` says why a compiler cannot build this kernel here, or refuses it. `tell` is called with the name
    of each build. `binding` and `own` are as for `make`.
    Raises BuildError, with the first compiler's message, if every compiler refuses the kernel, and if the file has no
    entry point or no `entry`.
    """
    built: list[Row] = []
    refusals: list[BuildError] = []
    for name in names:
        for arch in archs:
            tell(f"{name} for {arch}")
            row = _row(path, name, arch, entry)
            try:
                made = make(path, name, arch, options, binding, own)
            except NotOfferedError as reason:
                built.append(row | {"arch": "", "not_built": str(reason)})
                break
            except BuildError as refusal:
                refusals.append(refusal)
                built.append(row | {"not_built": f"refused: {refusal.brief}"})
                continue
            row |= {"seconds": summary(made.seconds), "cached_seconds": summary(made.cached) if made.cached else None}
            row |= {f"{artefact}_bytes": size for artefact, size in made.sizes.items()}
            row |= _needs(made.resources, entry, path)
            row["missing"] = made.missing | _mangled(made.resources, entry, path)
            built.append(row | {f"{what}_bytes": None for what in made.missing if f"{what}_bytes" in row})
        if name == "nvcc" and len(archs) > 1 and all(row["seconds"] for row in built[-len(archs) :]):
            tell(f"a fatbin for {len(archs)} architectures")
            made_fatbin = build(path, "nvcc", archs, "fatbin", options)
            row = _row(path, "nvcc", f"{len(archs)} + PTX", None)
            row |= {"seconds": summary([made_fatbin.seconds]), "fatbin_bytes": len(made_fatbin.code)}
            built.append(row | {"holds": [*archs, archs[-1].replace("sm_", "compute_")]})
    if not any(row["seconds"] for row in built):
        others = "\n".join(f"{row['compiler']}: {row['not_built']}" for row in built)
        raise refusals[0] if refusals else BuildError(others)
    return built


def _row(path: Path, compiler: str, arch: str, entry: str | None) -> Row:
    row: Row = {"kernel": path.name, "compiler": compiler, "arch": arch, "entry": entry, "clock": "host"}
    sizes = [f"{artefact}_bytes" for artefact in ARTEFACTS]
    return row | dict.fromkeys(["seconds", "cached_seconds", *_RESOURCES, *sizes, "not_built"]) | {"missing": {}}


def _needs(resources: dict[str, Resources], entry: str | None, path: Path) -> Row:
    chosen = [needs for name, needs in resources.items() if is_entry(name, entry)]
    if not chosen:
        named, there = f" {entry!r}" if entry else "", ", ".join(resources) or "none"
        raise BuildError(f"{path.name} has no entry point{named}; there are: {there}")
    return {what: max(getattr(needs, what) for needs in chosen) for what in _RESOURCES}


def _mangled(resources: dict[str, Resources], entry: str | None, path: Path) -> dict[str, str]:
    """Return what to say under `missing` if the file's own kernel, no template, is not declared `extern "C"`."""
    symbols = [symbol for symbol in resources if symbol.startswith("_Z") and is_entry(symbol, entry)]
    for name in kernels.parameters(path.read_text(encoding="utf-8", errors="replace")):
        for symbol in symbols:
            if re.search(rf"(?<!\d){len(name)}{name}(?!I)", symbol):
                return {"plain name": f'get_function("{name}") finds no {symbol}; declare the kernel extern "C"'}
    return {}


def table(builds: Sequence[Row]) -> Table:
    """Show the rows of `rows()`: the seconds of each build, and the kernel's resources."""
    columns: list[Column] = [
        "compiler",
        "arch",
        ("cold", lambda row: "not built" if row["not_built"] else seconds(row["seconds"]["median"])),
        ("cached", "cached_seconds"),
        *((name.removesuffix("_bytes"), name) for name in _RESOURCES),
    ]
    note = "Host clock, medians. Registers a thread; shared memory in bytes a block; stack, spills in bytes a thread."
    compilers: dict[str, dict[str, None]] = {}
    for row in builds:
        reasons = [f"no {what}: {reason}." for what, reason in row["missing"].items()]
        for reason in [f"not built: {row['not_built']}."] if row["not_built"] else reasons:
            compilers.setdefault(reason, {})[row["compiler"]] = None
    notes = [f"{', '.join(names)}: {reason}" for reason, names in compilers.items()]
    return Table("build", builds, columns, "\n".join([note, *notes]))


def sizes_table(builds: Sequence[Row]) -> Table:
    """Show the rows of `rows()`: the bytes of every artefact that each compiler makes."""
    names = {"ptx": "PTX", "ltoir": "LTO-IR"}
    sizes = [(names.get(artefact, artefact), f"{artefact}_bytes") for artefact in ARTEFACTS]
    note = "Bytes. A fatbin holds machine code and PTX, compressed; the module is the whole file that Python imports."
    return Table("sizes", [row for row in builds if not row["not_built"]], ["compiler", "arch", *sizes], note)


def matrix_table(builds: Sequence[Row]) -> Table:
    """Show the rows of `rows()` with a column for each architecture: seconds of a cold build, bytes of the cubin."""
    singles = [row for row in builds if row["cubin_bytes"]]
    shown: list[Row] = []
    for compiler in dict.fromkeys(row["compiler"] for row in singles):
        mine = {row["arch"]: row for row in singles if row["compiler"] == compiler}
        shown.append({"compiler": compiler, **{arch: seconds(row["seconds"]["median"]) for arch, row in mine.items()}})
        shown.append({"compiler": "", **{arch: row["cubin_bytes"] for arch, row in mine.items()}})
    archs = [(arch, arch) for arch in dict.fromkeys(row["arch"] for row in singles)]
    note = "Host clock, medians of cold builds; below each, the bytes of the cubin."
    return Table("matrix", shown, ["compiler", *archs], note)


def figure(builds: Sequence[Row]) -> Any:
    """Draw the rows of `rows()` as bars: the seconds of a build by each compiler, cold and below that cached.

    The axes are logarithmic, because one compiler can take a hundred times as long as another. With several
    architectures a bar is their median.
    """
    singles = [row for row in builds if row["seconds"] and "holds" not in row]
    panels: dict[str, dict[str, float]] = {}
    for panel, key in (("cold", "seconds"), ("cached", "cached_seconds")):
        timed: dict[str, list[float]] = {}
        archs = {row["arch"] for row in singles if row[key]}
        where = "".join(archs) if len(archs) == 1 else f"median of {len(archs)} architectures"
        for row in singles:
            if row[key]:
                timed.setdefault(row["compiler"], []).append(row[key]["median"])
        if timed:
            bars = {compiler: median(values) for compiler, values in timed.items()}
            panels[f"{panel} ({where}, host clock)"] = bars
    colours = {**figures.COLOURS, "cmake": figures.COLOURS.get("pybind11", "")}
    drawn = figures.bars(panels, seconds, colours, f"Building {builds[0]['kernel']}")
    for axes, values in zip(drawn.axes, panels.values(), strict=True):
        axes.set_xscale("log")
        axes.set_xlim(min(values.values()) / 3, max(values.values()) * 4)  # space for the text of the longest bar
        axes.xaxis.set_major_formatter(lambda value, _: seconds(value))
        axes.spines["bottom"].set_visible(True)
    return drawn


def runs_on(archs: Sequence[str]) -> Table:
    """Return a table that shows which artefact runs on which GPU, by the rules of `toolchain.runs_on`."""
    holds: dict[str, list[str]] = {}
    for arch in archs:
        ptx = arch.replace("sm_", "compute_")
        holds |= {f"cubin {arch}": [arch], f"PTX {ptx}": [ptx]}
    if len(archs) > 1:
        holds["fatbin of all"] = [*archs, ptx]
    rows: list[Row] = []
    for name, codes in holds.items():
        gpus = [gpu for gpu in toolchain.ARCHITECTURES if toolchain.runs_on(codes, f"sm_{gpu}")]
        rows.append({"artefact": name, "gpus": gpus})
    return runs_on_table(rows)


def runs_on_table(rows: Sequence[Row]) -> Table:
    """Show the rows of `runs_on`."""
    columns: list[Column] = ["artefact"]
    for gpu in toolchain.ARCHITECTURES:
        columns.append((f"sm_{gpu}", lambda row, gpu=gpu: "runs" if gpu in row["gpus"] else "–"))  # type: ignore[misc]
    return Table("runs_on", rows, columns, "PTX needs a driver as new as the toolkit that made it.")
