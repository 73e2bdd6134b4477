"""Builds of a kernel by NVRTC and nvcc, side by side."""

from collections.abc import Sequence
from pathlib import Path

from fourways.building.compile import COMPILERS, BuildError, build, is_entry
from fourways.tables import Column, Row, Table, seconds, summary

_TIMES = 3


def rows(
    path: Path, archs: Sequence[str] = ("sm_90",), options: Sequence[str] = (), entry: str | None = None
) -> list[Row]:
    """Build the kernel file `path` by NVRTC and nvcc for each architecture, and return a row for each build.

    `seconds` are the `tables.summary` of three builds, by the host's clock. `registers` and `spill_bytes` (both per
    thread) are those of `entry`, or without it the largest of any entry point. `cubin_bytes` is the size of the machine
    code of the whole file. Where the compiler refuses the kernel, or there is none, these are None, and `not_built`
    says why. Raises BuildError if the file has no entry point, or no `entry`.
    """
    built: list[Row] = []
    for compiler in COMPILERS:
        for arch in archs:
            row: Row = {"kernel": path.name, "compiler": compiler, "arch": arch, "entry": entry, "clock": "host"}
            row |= dict.fromkeys(("seconds", "registers", "spill_bytes", "cubin_bytes", "not_built"))
            built.append(row)
            try:
                builds = [build(path, compiler, arch, options=options) for _ in range(_TIMES)]
            except BuildError as refusal:
                row["not_built"] = refusal.brief
                continue
            resources = builds[0].resources
            chosen = [needs for name, needs in resources.items() if is_entry(name, entry)]
            if not chosen:
                named, there = f" {entry!r}" if entry else "", ", ".join(resources) or "none"
                raise BuildError(f"{path.name} has no entry point{named}; there are: {there}")
            row["seconds"] = summary([each.seconds for each in builds])
            row["registers"] = max(needs.registers for needs in chosen)
            row["spill_bytes"] = max(needs.spill_bytes for needs in chosen)
            row["cubin_bytes"] = len(builds[0].code)
    return built


def table(builds: Sequence[Row]) -> Table:
    """Show the rows of `rows`; below the table, the compilers' refusals, each once."""
    columns: list[Column] = ["kernel"] if len({row["kernel"] for row in builds}) > 1 else []
    columns += [
        "compiler",
        "arch",
        ("seconds", lambda row: "not built" if row["not_built"] else seconds(row["seconds"]["median"])),
        "registers",
        ("spills", "spill_bytes"),
        ("bytes", "cubin_bytes"),
    ]
    note = "Host clock, median of three builds without a cache. Registers and bytes of spills per thread."
    refusals = [f"{row['kernel']}, {row['compiler']}: {row['not_built']}" for row in builds if row["not_built"]]
    return Table("build", builds, columns, "\n".join([note, *dict.fromkeys(refusals)]))
