"""The linked programs on a GPU: right in every build, and LTO as fast as one source."""

import numpy as np
import pytest

from fourways import linking, tables


@pytest.fixture(scope="module")
def rows() -> list[tables.Row]:
    return linking.link_all()


def test_every_build_is_right_and_timed(rows: list[tables.Row]) -> None:
    for row in rows:
        assert (row["error"], row["check"]) == (None, "right"), row["build"]
        assert row["seconds"]["median"] > 0
    assert rows[0]["gpu"] in str(linking.table(rows))


def test_lto_is_within_3_percent_of_one_source(rows: list[tables.Row]) -> None:
    medians = {row["build"]: row["seconds"]["median"] for row in rows}
    assert medians["LTO-IR, nvJitLink"] <= 1.03 * medians["one source"]
    assert medians["nvcc -dlto"] <= 1.03 * medians["one source"]
    assert medians["PTX, nvJitLink"] > medians["LTO-IR, nvJitLink"]


@pytest.mark.parametrize("wrong", [np.nan, 1.0])
def test_a_wrong_answer_is_not_timed(monkeypatch: pytest.MonkeyPatch, wrong: float) -> None:
    monkeypatch.setattr(linking, "reference", lambda x: np.full_like(x, wrong))
    for row in linking.link_all(elements=1009):
        assert row["check"].startswith("element 0 is")
        assert row["seconds"] is None


@pytest.mark.parametrize("elements", [1, 31, 257, 1_000_003])
def test_awkward_sizes(elements: int) -> None:
    assert [row["check"] for row in linking.link_all(elements=elements)] == ["right"] * 5


def test_for_another_gpu_it_is_built_but_not_run() -> None:
    other = "sm_75" if linking.link_all(elements=1)[0]["arch"] != "sm_75" else "sm_120"
    assert all("check" not in row and row["error"] is None for row in linking.link_all(arch=other))
