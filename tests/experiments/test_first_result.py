"""A way's program in a fresh process."""

import pytest

from fourways.experiments.first_result import STAGES, FirstResultError, first_result


@pytest.mark.parametrize(
    "text, why",
    [
        ("raise OSError('no such luck')", "OSError: no such luck"),
        ("# check\nraise SystemExit('element 0 is 1.0, expected 0.0')", "element 0 is 1.0, expected 0.0"),
        ("no Python", "line 1: SyntaxError: invalid syntax"),
    ],
)
def test_a_process_that_fails_is_told_in_its_own_words(text: str, why: str) -> None:
    with pytest.raises(FirstResultError, match=f"^host: {why}$"):
        first_result("host", text)


def test_further_launches_are_a_stage_and_the_process_has_the_variables_asked_for() -> None:
    text = "# launch\nimport os, time\n# launches\ntime.sleep(float(os.environ['LENGTH']))\n# check\n"
    stages = first_result("host", text, {"LENGTH": "0.05"})
    assert tuple(stages) == (*STAGES, "launches") and stages["launches"] >= 0.05
