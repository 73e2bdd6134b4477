"""One kernel by several compilers for several architectures, side by side. Needs no GPU and no driver."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from fourways import figures, toolchain
from fourways.building.artefacts import ALL_COMPILERS, ARTEFACTS, make
from fourways.building.compile import BuildError, build, is_entry
from fourways.building.packages import NotOfferedError
from fourways.building.resources import Resources
from fourways.tables import Column, Row, Table, seconds, summary

_RESOURCES = ("registers", "shared_bytes", "stack_bytes", "spill_bytes")
_SIZES = tuple(f"{artefact}_bytes" for artefact in ARTEFACTS)
_NAMES = {"ptx_bytes": "PTX", "ltoir_bytes": "LTO-IR"}


def rows(
    path: Path,
    names: Sequence[str] = ALL_COMPILERS,
    archs: Sequence[str] = ("sm_90",),
    options: Sequence[str] = (),
    entry: str | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> list[Row]:
    """A row for each compiler and architecture, and with nvcc and several architectures one for the fatbin of all.

    `seconds` and `cached_seconds` are median, p10 and p90 by the host's clock, as `make` defines them; `*_bytes` the
    artefacts' sizes; `registers`, `shared_bytes`, `stack_bytes` and `spill_bytes` what `entry` needs, or else the
    hungriest entry point. None is what a compiler does not do: `missing` says why, and `not_built` of one that cannot
    build this kernel here at all. `tell` hears what is being built.
    Raises BuildError, with nothing half done, for what a compiler refuses, for an `entry` that is not there and
    for a file without any.
    """
    found = []
    for name in names:
        for arch in archs:
            tell(f"{name} for {arch}")
            row = _row(path, name, arch, entry)
            try:
                made = make(path, name, arch, options)
            except NotOfferedError as reason:
                found.append(row | {"arch": "", "not_built": str(reason)})
                break
            row |= {"seconds": summary(made.seconds), "cached_seconds": summary(made.cached) if made.cached else None}
            row |= {f"{artefact}_bytes": size for artefact, size in made.sizes.items()}
            row |= _needs(made.resources, entry, path) | {"missing": made.missing}
            found.append(row | {f"{what}_bytes": None for what in made.missing if f"{what}_bytes" in row})
        if name == "nvcc" and len(archs) > 1 and found[-1]["seconds"]:
            tell(f"a fatbin for {len(archs)} architectures")
            made_fatbin = build(path, "nvcc", archs, "fatbin", options)
            row = _row(path, "nvcc", f"{len(archs)} + PTX", None)
            row |= {"seconds": summary([made_fatbin.seconds]), "fatbin_bytes": len(made_fatbin.code)}
            found.append(row | {"holds": [*archs, archs[-1].replace("sm_", "compute_")]})
    if not any(row["seconds"] for row in found):
        raise BuildError("\n".join(f"{row['compiler']}: {row['not_built']}" for row in found))
    return found


def _row(path: Path, compiler: str, arch: str, entry: str | None) -> Row:
    row: Row = {"kernel": path.name, "compiler": compiler, "arch": arch, "entry": entry, "clock": "host"}
    return row | dict.fromkeys(("seconds", "cached_seconds", *_RESOURCES, *_SIZES, "not_built")) | {"missing": {}}


def _needs(resources: dict[str, Resources], entry: str | None, path: Path) -> Row:
    chosen = [needs for name, needs in resources.items() if is_entry(name, entry)]
    if not chosen:
        named, there = f" {entry!r}" if entry else "", ", ".join(resources) or "none"
        raise BuildError(f"{path.name} has no entry point{named}; there are: {there}")
    return {
        "registers": max(needs.registers for needs in chosen),
        "shared_bytes": max(needs.shared_bytes for needs in chosen),
        "stack_bytes": max(needs.stack_bytes for needs in chosen),
        "spill_bytes": max(needs.spill_store_bytes + needs.spill_load_bytes for needs in chosen),
    }


def table(found: Sequence[Row]) -> Table:
    """The rows of `rows()`: how long each build takes, and what the kernel needs."""
    columns: list[Column] = [
        ("compiler", lambda row: row["compiler"]),
        ("arch", lambda row: row["arch"]),
        ("cold", lambda row: _time(row["seconds"])),
        ("cached", lambda row: _time(row["cached_seconds"])),
        *((name.removesuffix("_bytes"), _count(name)) for name in _RESOURCES),
    ]
    note = (
        "Host clock, medians. Registers a thread; shared memory in bytes a block; stack and spills in bytes a thread."
    )
    reasons: dict[str, list[str]] = {}
    for row in found:
        told = [f"no {what}: {reason}." for what, reason in row["missing"].items()]
        for reason in [*told, *([f"not built: {row['not_built']}."] if row["not_built"] else [])]:
            if row["compiler"] not in reasons.setdefault(reason, []):
                reasons[reason].append(row["compiler"])
    notes = [f"{', '.join(who)}: {why}" for why, who in reasons.items()]
    return Table("build", found, columns, "\n".join([note, *notes]))


def sizes_table(found: Sequence[Row]) -> Table:
    """The rows of `rows()`: bytes of every artefact that each compiler makes."""
    columns: list[Column] = [
        ("compiler", lambda row: row["compiler"]),
        ("arch", lambda row: row["arch"]),
        *((_NAMES.get(name, name.removesuffix("_bytes")), _count(name)) for name in _SIZES),
    ]
    note = "Bytes. A fatbin holds machine code and PTX, compressed; the module is the whole file that Python imports."
    return Table("sizes", [row for row in found if not row["not_built"]], columns, note)


def matrix_table(found: Sequence[Row]) -> Table:
    """The rows of `rows()` with a column for each architecture: seconds of a cold build, and bytes of the cubin."""
    singles = [row for row in found if row["cubin_bytes"]]
    archs = list(dict.fromkeys(row["arch"] for row in singles))
    shown: list[Row] = []
    for compiler in dict.fromkeys(row["compiler"] for row in singles):
        mine = {row["arch"]: row for row in singles if row["compiler"] == compiler}
        times = {arch: row["seconds"]["median"] for arch, row in mine.items()}
        shown.append({"compiler": compiler, "what": "seconds", "clock": "host", "archs": times})
        bytes_ = {arch: row["cubin_bytes"] for arch, row in mine.items()}
        shown.append({"compiler": compiler, "what": "bytes", "archs": bytes_})
    columns: list[Column] = [
        ("compiler", lambda row: row["compiler"] if row["what"] == "seconds" else ""),
        *((arch, lambda row, arch=arch: _cell(row, arch)) for arch in archs),  # type: ignore[misc]
    ]
    return Table("matrix", shown, columns, "Host clock, medians of cold builds; below each, the bytes of the cubin.")


def _cell(row: Row, arch: str) -> str:
    value = row["archs"].get(arch)
    return seconds(value) if row["what"] == "seconds" else "" if value is None else f"{value:,}"


def _time(samples: dict[str, float] | None) -> str:
    return seconds(samples["median"]) if samples else ""


def _count(name: str) -> Callable[[Row], str]:
    return lambda row: "" if row[name] is None else f"{row[name]:,}"


def figure(found: Sequence[Row]) -> Any:
    """The rows of `rows()` as bars: seconds of a build by each compiler, cold, and below that cached.

    With several architectures a bar is the median over them.
    """
    archs = list(dict.fromkeys(row["arch"] for row in found if row["seconds"] and "holds" not in row))
    panels = {}
    for panel, key in (("cold", "seconds"), ("cached", "cached_seconds")):
        timed: dict[str, list[float]] = {}
        for row in found:
            if row[key] and "holds" not in row:
                timed.setdefault(row["compiler"], []).append(row[key]["median"])
        panels[panel] = {compiler: median(values) for compiler, values in timed.items()}
    where = archs[0] if len(archs) == 1 else f"median of {len(archs)} architectures"
    colours = {**figures.COLOURS, "cmake": figures.COLOURS["pybind11"]}
    named = {f"{panel} ({where}, host clock)": values for panel, values in panels.items() if values}
    return figures.bars(named, seconds, colours, f"Building {found[0]['kernel']}")


def runs_on(archs: Sequence[str]) -> Table:
    """Which artefact runs on which GPU, by the rules of `toolchain.runs_on`."""
    gpus = toolchain.ARCHITECTURES
    last = archs[-1].replace("sm_", "compute_")
    artefacts = {f"{kind} {code}": {code} for arch in archs for kind, code in _artefacts(arch)}
    if len(archs) > 1:
        artefacts["fatbin of all"] = {*archs, last}
    found: list[Row] = [
        {"artefact": artefact, "gpus": [gpu for gpu in gpus if toolchain.runs_on(codes, f"sm_{gpu}")]}
        for artefact, codes in artefacts.items()
    ]
    return runs_on_table(found)


def runs_on_table(found: Sequence[Row]) -> Table:
    """The rows of `runs_on` as a table."""
    columns: list[Column] = [
        ("artefact", lambda row: row["artefact"]),
        *((f"sm_{gpu}", lambda row, gpu=gpu: "runs" if gpu in row["gpus"] else "–") for gpu in toolchain.ARCHITECTURES),  # type: ignore[misc]
    ]
    return Table("runs_on", found, columns, "PTX needs a driver as new as the toolkit that made it.")


def _artefacts(arch: str) -> tuple[tuple[str, str], ...]:
    return ("cubin", arch), ("PTX", arch.replace("sm_", "compute_"))
