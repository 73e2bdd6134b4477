"""What lesson 02 tries with a kernel's text, as far as it needs no GPU."""

from typing import Any

import pytest

from fourways import kernels
from fourways.experiments import saxpy_text


def test_options_change_loads_and_arithmetic() -> None:
    text = kernels.source("saxpy")
    rows = saxpy_text.options_table(text, ["", "-DVECTOR=1", "-ftz=true -ftz=false", "-ftz=false -ftz=true"]).rows
    none, single, kept, flushed = rows
    assert any("v4" in load for load in none["loads"]) and not any("v4" in load for load in single["loads"])
    assert single["instructions"] < none["instructions"]
    assert kept["arithmetic"] == ["fma.rn.f32"], "the last option wins"
    assert flushed["arithmetic"] == ["fma.rn.ftz.f32"], "the last option wins"


@pytest.mark.parametrize("text", [None, "", "axpby"])
def test_a_text_without_the_kernel_is_told(text: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert not saxpy_text.check_axpby(text, lambda size: ())
    assert capsys.readouterr().out == "Not yet: the text has no kernel `axpby`.\n"
