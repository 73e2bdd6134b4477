"""One kernel by several compilers for several architectures: seconds, bytes, registers. Needs no GPU and no driver."""

from collections.abc import Sequence
from pathlib import Path

from fourways import building, judging
from fourways.tables import Row, Table, seconds
from fourways.timing import summary


def architectures(names: Sequence[str]) -> list[str]:
    """`["sm_75", ...]` from `90`, `sm_90`, or `all` for every one of `building.ARCHITECTURES`."""
    every = [found for name in names for found in (building.ARCHITECTURES if name == "all" else [name])]
    return list(dict.fromkeys(f"sm_{arch.removeprefix('sm_')}" for arch in every))


def rows(path: Path, compilers: Sequence[str], archs: Sequence[str], options: Sequence[str] = ()) -> list[Row]:
    """A row for each compiler and architecture: `seconds` of a build (median, p10, p90 of 3), bytes of the cubin, the
    PTX and the LTO-IR, and what the hungriest entry point needs, by ptxas. Raises BuildError, with nothing half done.
    """
    found = []
    for compiler in compilers:
        for arch in archs:
            made = {output: building.build(path, compiler, arch, output, options) for output in building.OUTPUTS}
            cubin = made["cubin"]
            samples = [cubin.seconds, *(building.build(path, compiler, arch, options=options).seconds for _ in "12")]
            found.append(
                {
                    "compiler": compiler,
                    "arch": arch,
                    "clock": "host",
                    "seconds": summary(samples),
                    **{f"{output}_bytes": len(build.code) for output, build in made.items()},
                    "registers": cubin.registers,
                    "shared_bytes": cubin.shared_bytes,
                    "stack_bytes": max((each.stack_bytes for each in cubin.resources.values()), default=0),
                    "spill_bytes": cubin.spill_bytes,
                }
            )
    return found


def table(found: Sequence[Row]) -> Table:
    """The rows of `rows()` as a table."""
    counts = ("registers", "shared_bytes", "stack_bytes", "spill_bytes", "cubin_bytes", "ptx_bytes", "ltoir_bytes")
    columns = [
        ("compiler", lambda row: row["compiler"]),
        ("arch", lambda row: row["arch"]),
        ("build", lambda row: seconds(row["seconds"]["median"])),
        *((name.removesuffix("_bytes"), lambda row, name=name: f"{row[name]:,}") for name in counts),
    ]
    note = (
        "Host clock, median of 3 builds of the cubin. Registers a thread; all else in bytes; stack and spills a thread."
    )
    return Table("build", found, columns, note)


def runs_on(archs: Sequence[str]) -> Table:
    """Which artefact runs on which GPU: a cubin within its major version from its minor version on, PTX on all newer.

    Source: NVIDIA, CUDA C++ Programming Guide, "Binary Compatibility" and "PTX Compatibility".
    """
    gpus = building.ARCHITECTURES
    found: list[Row] = []
    for arch in archs:
        for artefact, code in (("cubin", arch), ("PTX", f"compute_{arch.removeprefix('sm_')}")):
            fitting = [gpu for gpu in gpus if judging.runs_on({code}, f"sm_{gpu}")]
            found.append({"artefact": f"{artefact} {code}", "gpus": fitting})
    columns = [
        ("artefact", lambda row: row["artefact"]),
        *((f"sm_{gpu}", lambda row, gpu=gpu: "runs" if gpu in row["gpus"] else "–") for gpu in gpus),
    ]
    return Table("runs_on", found, columns, "PTX needs a driver as new as the toolkit that made it.")
