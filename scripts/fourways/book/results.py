"""The tables of the book's page on results: every key of a file of results, with its meaning from the JSON Schema."""

import json
from typing import Any

from fourways import kernels

Schema = dict[str, Any]


def schema() -> Schema:
    """Return the JSON Schema of files of results (`files.results`)."""
    file = kernels.root() / "book" / "_static" / "results.schema.json"
    return json.loads(file.read_text(encoding="utf-8"))


def reference() -> str:
    """Return the schema as Markdown: tables of the keys of the file, of the stamp, and of each kind of row."""
    whole = schema()
    known = whole["properties"]["tables"]["properties"]
    parts = {"The file": whole, "The stamp": whole["$defs"]["stamp"], "Samples": whole["$defs"]["summary"]}
    parts |= {f"Table `{name}`": whole["$defs"][name] for name in known}
    return "\n".join(_section(title, part) for title, part in parts.items())


def _section(title: str, part: Schema) -> str:
    rows = [
        f"| `{key}` | {_kind(value)} | {value.get('description', '')} |" for key, value in part["properties"].items()
    ]
    return "\n".join(
        [f"## {title}", "", part["description"], "", "| key | value | meaning |", "|---|---|---|", *rows, ""]
    )


def _kind(value: Schema) -> str:
    """Return the type of a key's value in words: `integer`, `samples or null`, `list of string`, `string by name`."""
    if "anyOf" in value:
        return " or ".join(map(_kind, value["anyOf"]))
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return {"summary": "samples", "clock": "string"}.get(name, name)
    kinds = value["type"] if isinstance(value.get("type"), list) else [value.get("type", "string")]
    inner = value.get("items") or value.get("additionalProperties")
    plain = {"array": f"list of {_kind(inner)}", "object": f"{_kind(inner)} by name"} if inner else {}
    return " or ".join(plain.get(kind, kind) for kind in kinds)
