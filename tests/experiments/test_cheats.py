"""The cheats on the CPU, compiled by a C++ compiler: each passes the usual check once. One of them needs a GPU."""

from pathlib import Path
from typing import Any

import pytest

from fourways import host
from fourways.experiments import cheats

SIZE = 2 * 8192 + 6  # more than two blocks of saxpy, and an even number: rows of the same length
ON_CPU = [cheat for cheat in cheats.CHEATS if cheat.name != "other stream"]


@pytest.fixture(autouse=True)
def kernels_on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(name: str, macro: str) -> Any:
        (tmp_path / "cheats.cu").write_text(cheats.SOURCE)
        return host.compile(tmp_path / "cheats.cu", (f"-DCHUNK={cheats._CHUNK}", f"-D{macro}")).get_function(name)

    monkeypatch.setattr(cheats, "_kernel", kernel)
    monkeypatch.setattr(cheats, "_THREADS", 32)  # threads of a block are those of the operating system


@pytest.mark.parametrize("cheat", ON_CPU, ids=lambda cheat: cheat.name)
def test_cheats_and_honest_calls_pass_the_usual_check_and_honest_ones_stay_right(cheat: cheats.Cheat) -> None:
    assert cheats.Trial(cheat, False, SIZE, "host").passes()
    honest = cheats.Trial(cheat, True, SIZE, "host")
    assert honest.passes()
    for _ in range(1 + cheat.sets):
        honest.restore()
        honest.call()
        assert honest.problem() is None
