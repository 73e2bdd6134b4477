"""The cheats on the CPU: each passes the usual check once, and what the project's timer restores and compares shows it.

The kernels are compiled by a C++ compiler. Only the cheat with another stream needs a GPU.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourways import checking, host
from fourways.experiments import cheats

SIZE = 2 * 8192 + 6  # more than two blocks of saxpy, and an even number: rows of the same length
BY_NAME = {cheat.name: cheat for cheat in cheats.CHEATS}
ON_CPU = [cheat for cheat in cheats.CHEATS if cheat.name != "other stream"]


@pytest.fixture(autouse=True)
def kernels_on_the_cpu(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(name: str, macro: str) -> Any:
        file = tmp_path_factory.getbasetemp() / "cheats.cu"
        if not file.exists():
            file.write_text(cheats.SOURCE)
        options = (f"-DCHUNK={cheats._CHUNK}", f"-D{macro}")
        return host.compile(file, options).get_function(name)

    monkeypatch.setattr(cheats, "_kernel", kernel)
    monkeypatch.setattr(cheats, "_THREADS", 32)  # threads of a block are those of the operating system


def trial(name: str, is_honest: bool = False) -> cheats.Trial:
    return cheats.Trial(BY_NAME[name], is_honest, SIZE, "host")


@pytest.mark.parametrize("is_honest", [True, False], ids=["honest", "cheat"])
@pytest.mark.parametrize("cheat", ON_CPU, ids=lambda cheat: cheat.name)
def test_every_function_passes_the_usual_check_once(cheat: cheats.Cheat, is_honest: bool) -> None:
    assert trial(cheat.name, is_honest).passes()


@pytest.mark.parametrize("cheat", ON_CPU, ids=lambda cheat: cheat.name)
def test_honest_functions_stay_right(cheat: cheats.Cheat) -> None:
    honest = trial(cheat.name, is_honest=True)
    assert honest.passes()
    for _ in range(1 + cheat.sets):
        honest.restore()
        honest.call()
        assert honest.problem() is None


@pytest.mark.parametrize(
    "name, problem",
    [
        ("answer replayed", None),
        ("not cleared", "element 0 is nan"),
        ("NaN", "element 0 is nan"),
        ("warm cache", None),
        ("warm-up only", "element 0 is nan"),
        ("changed input", "its input number 0 is changed"),
        ("idle clock", None),
    ],
)
def test_restored_outputs_and_compared_inputs_show_a_cheat(name: str, problem: str | None) -> None:
    """A block that looks for the old answer does not find it, so it computes: nothing is wrong, not even its time."""
    cheat = trial(name)
    assert cheat.passes()
    for _ in range(cheats._COMPUTES):
        cheat.restore()
        cheat.call()
    assert (cheat.problem() or "").startswith(problem or "") and bool(cheat.problem()) == bool(problem)


def test_an_answer_is_replayed_where_it_stands() -> None:
    """The first element of each block decides: the second block, whose first one is spoiled, computes."""
    replayed = trial("answer replayed")
    assert replayed.passes()
    replayed.output[1] = replayed.output[8192] = replayed.output[8193] = 0
    replayed.call()
    assert replayed.output[1] == 0 and (replayed.output[8192:] > 0).all()


def test_what_is_not_cleared_grows() -> None:
    sums = trial("not cleared")
    assert sums.passes()
    once = sums.output.copy()
    sums.call()
    np.testing.assert_array_equal(sums.output, 2 * once)


def test_a_changed_input_leaves_the_answer_right() -> None:
    halved = trial("changed input")
    assert halved.passes()
    halved.call()
    assert checking.compare(halved.output, 2 * np.frexp(trial("changed input").inputs(0)[0])[0]) is None


def test_the_honest_call_takes_its_sets_in_turn() -> None:
    honest = trial("warm cache", is_honest=True)
    sets = [honest.next]
    for _ in range(16):
        honest.call()
        sets.append(honest.next)
    assert len(set(map(id, sets))) == 16 and sets[0] is sets[16]
    assert [judged.values[-1] is honest.output for judged in sets[:2]] == [True, False]


def test_other_inputs_are_other_numbers_of_the_same_kind() -> None:
    saxpy = trial("NaN")
    (a, x, y), (_, other, _) = saxpy.inputs(0), saxpy.inputs(1)
    assert x.shape == other.shape and x.dtype == other.dtype == y.dtype == np.float32 and (x != other).any()
    assert isinstance(a, np.float32)


def test_a_pause_comes_before_the_idle_cheat_only(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(cheats.time, "sleep", paused.append)
    trial("idle clock", is_honest=True).settle()
    assert paused == []
    trial("idle clock").settle()
    assert paused == [cheats._PAUSE]


def test_three_arrays_do_or_do_not_fit_into_the_cache_of_an_h200(root: Path) -> None:
    cache = 60 * 2**20  # bytes
    assert 3 * 4 * cheats.IN_CACHE < cache < 3 * 4 * cheats.SIZE
    assert cache < BY_NAME["warm cache"].sets * 3 * 4 * cheats.IN_CACHE
