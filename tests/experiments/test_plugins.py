"""Units linked in three forms without a GPU."""

from collections.abc import Callable
from typing import Any

import pytest

from fourways import kernels
from fourways.experiments import plugins

SOURCE = kernels.source("apply_transform")
PLUGIN = 'extern "C" __device__ float user_transform(float x) { return 0.99f * x + 0.5f; }\n'


@pytest.fixture(scope="module")
def whole() -> Any:
    return plugins.one_source(SOURCE, PLUGIN)


def in_form(form: str, plugin: str = PLUGIN) -> Any:
    return plugins.linked(plugins.compiled(SOURCE, form), plugins.compiled(plugin, form))


def test_only_lto_ir_loses_the_call(whole: Any) -> None:
    programs = {form: in_form(form) for form in plugins.FORMS}
    rows = {row["linked_from"]: row for row in plugins.look(programs, whole).rows}
    assert {form: row["calls"] for form, row in rows.items()} == {"ptx": 64, "cubin": 64, "ltoir": 0}
    assert rows["ltoir"]["lines_that_differ"] == 0 < rows["ptx"]["lines_that_differ"]
    assert rows["ltoir"]["other_functions"] == [] and rows["cubin"]["other_functions"] == ["user_transform"]


def test_attempts_print_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise ValueError("no\nmore")

    unit = plugins.compiled(SOURCE, "ltoir")
    wrong = plugins.DECLARATION + PLUGIN.replace("float x", "int x")
    attempts: dict[str, Callable[[], Any]] = {"a": fails, "b": lambda: 3, "c": lambda: plugins.linked(unit)}
    plugins.attempt(attempts | {"d": lambda: plugins.compiled(wrong, "ltoir"), "e": lambda: in_form("ltoir")})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["a: ValueError: no", "b: loaded"]
    assert "Unresolved extern function" in lines[2] and '"C" linkage' in lines[3]
    assert lines[4:] == ["e: links, 0 calls left"]
