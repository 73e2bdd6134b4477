"""The book's pages on commands: each consists of the command's help, its package's docstring, and recorded runs."""

import inspect
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from typer.core import TyperGroup

from fourways import (
    building,
    choosing,
    figures,
    files,
    kernels,
    lesson,
    linking,
    profiling,
    sass,
    tables,
    timeline,
    timing,
    toolchain,
)
from fourways.book.build import provenance, readable
from fourways.book.record import anonymous, digest

OWN = {
    "my.cu": """\
// A file of your own: what one Newton step makes of a guess of 1 for the square root of x.
extern "C" __global__ void newton(const float *x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 0.5f * (1.0f + x[i]);
}
""",
    "library.cu": """\
// A library: one function, which the caller links.
extern "C" __device__ float smooth(float a, float b)
{
    return 0.5f * (a + b);
}
""",
    "caller.cu": """\
// A kernel of your own that calls the library.
extern "C" __device__ float smooth(float a, float b);

extern "C" __global__ void neighbours(const float *x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = smooth(x[i], x[i + 1 < n ? i + 1 : i]);
}
""",
    "struct.cu": """\
// Types of your own, and a template.
typedef unsigned short number;

struct Range {
    float low, high;
};

extern "C" __global__ void clip(const number *x, float *y, Range range, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = fminf(fmaxf(x[i], range.low), range.high);
}

template <class T>
__global__ void square(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}
""",
}
"""The files of the examples, by name. Recording puts them into a folder outside the clone."""

_JSON = "What `--json` writes is explained in [The JSON of results](../results.md)."
_LONG = 30  # rows; longer tables are folded


@dataclass(frozen=True)
class Command:
    """A command with a page: the module whose docstring explains it, and the runs that the page shows.

    `examples` are the words after the command's name. `drawn` says whether the command draws a figure.
    """

    name: str
    module: ModuleType
    examples: Sequence[str]
    drawn: bool = True


COMMANDS = (
    Command("time", timing, ("1 --sizes 2^10:2^28", "my.cu")),
    Command("signature", building.signature, ("struct.cu", "struct.cu --entry square<double>"), drawn=False),
    Command("build", building, ("1", "my.cu --arch all -c nvrtc -c nvcc")),
    Command("sass", sass, ("1", "my.cu --arch all -w nvrtc")),
    Command("link", linking, ("", "library.cu caller.cu --entry neighbours")),
    Command("profile", profiling, ("1 --clocks none", "my.cu --clocks none")),
    Command("timeline", timeline, ("1 --size 2^16",)),
    Command(
        "choose",
        choosing,
        ("--callers strangers --pythons 4 --systems 2", "--kernel 2us --launches 100000 --runs 1 --cold 0"),
    ),
)

TABLES: dict[str, Sequence[Callable[[Sequence[tables.Row]], tables.Table]]] = {
    "timing": [timing.table],
    "signature": [building.signature_table],
    "build": [building.table, building.sizes_table],
    "runs_on": [building.runs_on_table],
    "sass": [sass.table],
    "link": [linking.table],
    "profile": [profiling.table],
    "profile_lines": [profiling.lines_table],
    "timeline": [timeline.table],
    "advice": [choosing.advice_table],
    "choose": [choosing.table],
    "out": [choosing.out_table],
}
"""The functions that show the rows of a recorded table, by the table's name."""


class ExampleError(RuntimeError):
    """An example that could not be recorded; the message holds the command's error."""


def place(command: str, example: str, suffix: str, folder: str = "") -> Path:
    """Return the file in the book for an example's recorded rows (`suffix` ".json") or figure (".svg").

    `folder` is that of a device other than the book's (`lesson.device_folder`).
    """
    slug = "_".join([command, *(re.sub(r"[^\w.]+", "-", word.replace("^", "")).strip("-") for word in example.split())])
    kind = "results" if suffix == ".json" else "figures"
    return kernels.root() / "book" / kind / "commands" / folder / f"{slug}{suffix}"


def sources(command: str, example: str) -> str:
    """Return the SHA-256 of the files that a command's example uses."""
    if command == "choose":  # the costs of the ways, recorded by lessons 00 and 01
        recorded = [path for name in ("00_two_workflows", "01_doublify") for path in lesson.results(name)[:1]]
        return digest(path.read_bytes() for path in recorded)
    if own := _own(example):
        return digest(text.encode() for text in own)
    # of the program of `fourways link`, whose first unit includes this kernel
    units = [*sorted((kernels.root() / "cpp" / "link").glob("*.cu")), kernels.path("apply_transform")]
    paths = [lesson.kernel_file(example.split()[0])] if example else units
    return digest(path.read_bytes() for path in paths)


def _own(example: str) -> list[str]:
    return [OWN[word] for word in example.split() if word in OWN]


def record_example(command: Command, example: str) -> list[Path]:
    """Run an example, write its rows and its figure into the book, and return these files.

    If the book holds a recording of another GPU, the files go to a folder of this one beside it. Raises ExampleError,
    and writes nothing, if the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, text in OWN.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        words = [command.name, *shlex.split(example), "--json", "rows.json"]
        words += ["--figure", "figure.svg"] if command.drawn else []
        call = [sys.executable, "-m", "fourways", *words]
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, env=toolchain.child_environment())
        if done.returncode:
            raise ExampleError(f"fourways {command.name} {example}: {files.plain(done.stderr).strip()}")
        content = json.loads(Path(folder, "rows.json").read_text(encoding="utf-8"))
        warnings = [line for line in done.stderr.splitlines() if line.startswith("Doubtful")]
        more = {"command": f"fourways {command.name} {example}".strip(), "sources": sources(command.name, example)}
        text = anonymous(files.results(content["stamp"], content["tables"], **more, warnings=warnings))
        figure = Path(folder, "figure.svg").read_bytes() if command.drawn else b""
    folder = _folder(place(command.name, example, ".json"), content["stamp"]["device"])
    rows_file, figure_file = (place(command.name, example, suffix, folder) for suffix in (".json", ".svg"))
    files.write_text(rows_file, text)
    if not command.drawn:
        return [rows_file]
    files.write_bytes(figure_file, figure)
    return [rows_file, figure_file]


def _folder(recorded: Path, device: str | None) -> str:
    """Return the folder for a recording on `device`: "" unless the file in the book is of another GPU."""
    of_book = json.loads(recorded.read_text(encoding="utf-8"))["stamp"]["device"] if recorded.is_file() else None
    return lesson.device_folder(device) if device and of_book and device != of_book else ""


def pages(group: TyperGroup) -> dict[str, str]:
    """Return the text of every page by its command's name; `group` holds all commands."""
    return {command.name: _page(command, group.commands[command.name]) for command in COMMANDS}


def _page(command: Command, typed: Any) -> str:
    parts = [f"# fourways {command.name}", typed.help, "## Options", _options(typed), _JSON]
    parts += [part for example in command.examples for part in _example(command, example)]
    return "\n\n".join([*parts, "## What is behind it", inspect.getdoc(command.module) or ""]) + "\n"


def _options(typed: Any) -> str:
    rows = ["| argument | meaning |", "|---|---|"]
    for parameter in typed.params:
        names = parameter.opts if parameter.param_type_name == "option" else [parameter.name.upper()]
        rows.append(f"| {', '.join(f'`{name}`' for name in names)} | {parameter.help or ''} |")
    return "\n".join(rows)


def _example(command: Command, example: str) -> list[str]:
    path = place(command.name, example, ".json")
    heading = [f"## `{f'fourways {command.name} {example}'.strip()}`"]
    heading += [f"```cuda\n{text}```" for text in _own(example)]
    if not path.is_file():
        return [*heading, "Not recorded on a GPU yet: `make record` does so."]
    recording = json.loads(path.read_text(encoding="utf-8"))
    if recording["sources"] != sources(command.name, example):
        return [*heading, "The code of this example has changed since this was recorded: `make record`."]
    shown = _shown(command, example, recording)
    for own in sorted(path.parent.glob(f"*/{path.name}")):
        other = json.loads(own.read_text(encoding="utf-8"))
        if other["sources"] == recording["sources"]:
            shown += _shown(command, example, other, own.parent.name)
    return [*heading, *shown]


def _shown(command: Command, example: str, recording: Any, folder: str = "") -> list[str]:
    """Return a recording of an example in MyST: where it was made, its figure, its tables, its warnings."""
    figure = place(command.name, example, ".svg", folder)
    shown = [provenance(recording["stamp"])]
    if command.drawn and figure.is_file():
        seen = figures.description(figure.read_text(encoding="utf-8"))
        address = figure.relative_to(kernels.root() / "book")
        shown.append(_as_output(f"```{{image}} ../{address}\n:alt: {seen}\n```"))
    for table in (view(rows) for name, rows in recording["tables"].items() for view in TABLES.get(name, ())):
        html = _as_output(
            f'<div class="output text_html" tabindex="0">{readable(table._repr_mimebundle_()["text/html"])}</div>'
        )
        long = len(table.rows) > _LONG
        shown.append(f"::::{{dropdown}} The table of {len(table.rows)} rows\n{html}\n::::" if long else html)
    return [*shown, *recording["warnings"]]


def _as_output(text: str) -> str:
    """Return `text` in a box that looks like a lesson's outputs."""
    return f":::{{div}} recorded\n{text}\n:::"


def record_examples(names: Sequence[str]) -> int:
    """Record the examples of the named commands (default: all).

    Returns an exit code: 0, 1 if an example failed, or 2 for a command without a page.
    """
    failed, known = 0, [command.name for command in COMMANDS]
    if unknown := [name for name in names if name not in known]:
        print(f"no page on {unknown[0]!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for command in COMMANDS:
        for example in command.examples if not names or command.name in names else ():
            try:
                for path in record_example(command, example):
                    print(f"recorded {files.short(path)}")
            except ExampleError as error:
                failed = 1
                print(error, file=sys.stderr)
    return failed
