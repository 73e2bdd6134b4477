"""The book's pages on commands: each consists of the command's help, its package's docstring, and recorded runs."""

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

from typer.core import TyperGroup

from fourways import building, choosing, figures, kernels, linking, profiling, sass, tables, timeline, timing
from fourways.book.examples import COMMANDS, Command, own_texts, place, sources
from fourways.book.merge import provenance, readable
from fourways.book.record import of_other_devices

_JSON = "What `--json` writes is explained in [The JSON of results](../results.md)."
_LONG = 30  # rows; longer tables are folded
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
    heading += [f"```cuda\n{text}```" for text in own_texts(example)]
    if not path.is_file():
        return [*heading, "Not recorded on a GPU yet: `make record` does so."]
    recording = json.loads(path.read_text(encoding="utf-8"))
    if recording["sources"] != sources(command.name, example):
        return [*heading, "The code of this example has changed since this was recorded: `make record`."]
    shown = _shown(command, example, recording)
    for own in of_other_devices(path):
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
