"""What the tests of machine code share: a kernel's file is compiled once by the same recipe, and disassembled once."""

import functools
import sys
from pathlib import Path
from typing import Any

import pytest

from fourways import building, sass

BUILT: dict[tuple[object, ...], building.Build] = {}
disassembled = functools.cache(sass.disassemble)


@pytest.fixture(autouse=True)
def machine_code_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    build = building.build

    def kept(source: Path | str, *words: Any, **named: Any) -> building.Build:
        recipe = source, Path(source).read_text() if isinstance(source, Path) else "", str(words), str(named)
        if recipe not in BUILT:
            BUILT[recipe] = build(source, *words, **named)
        return BUILT[recipe]

    monkeypatch.setattr(building, "build", kept)
    monkeypatch.setattr(sys.modules["fourways.sass.compare"], "disassemble", disassembled)
