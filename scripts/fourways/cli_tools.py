"""The commands on single kernels: `fourways build` and its relatives. As in `cli`: parse, call, print."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

Kernel = Annotated[str, typer.Argument(help="A lesson's number, a kernel's name, or a path to a .cu or .cuh file.")]
Arch = Annotated[list[str] | None, typer.Option("--arch", "-a", help="As `90` or `sm_90`, or `all`; several times.")]
Option = Annotated[list[str] | None, typer.Option("--option", "-o", help="For the compiler, e.g. `-o=-DFACTOR=3`.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the rows here as JSON, too.")]


def build(kernel: Kernel, arch: Arch = None, option: Option = None, json_file: Json = None) -> None:
    """Compile a kernel by NVRTC and NVCC and compare: seconds, bytes, registers. Needs no GPU.

    `fourways build 1` takes lesson 01's kernel, for sm_90; `fourways build my.cu --arch all --json builds.json` a file
    of your own, for seven architectures. A second table says which artefact runs on which GPU.
    """
    from fourways import building, builds

    path, archs = builds.kernel_file(kernel), builds.architectures(arch or ["sm_90"])
    console = Console()
    with Console(stderr=True).status(f"compiling {path.name}"):
        found = builds.rows(path, building.COMPILERS, archs, option or [])
    tables = [builds.table(found), builds.runs_on(archs)]
    for table in tables:
        console.print(table)
    save(json_file, tables)


def save(file: Path | None, tables: Sequence) -> None:
    """Write tables to a JSON file, whole or not at all: `{"stamp": {...}, "tables": {name: rows}}`."""
    if file is not None:
        from fourways import environment, files

        content = {"stamp": environment.stamp(), "tables": {table.name: table.rows for table in tables}}
        files.write_text(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
