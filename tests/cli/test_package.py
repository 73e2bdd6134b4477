"""`fourways package`."""

from pathlib import Path

import pytest
from commands import fourways, said


@pytest.fixture
def inputs(root: Path) -> Path:
    return root / "tests" / "project"


def test_it_prints_what_it_wrote_and_how_to_go_on(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fourways("package", inputs / "lift.cu", "lift", "--case", inputs / "lift_case.py")
    assert done.exit_code == 0, said(done)
    written = sorted(str(path) for path in Path("lift").rglob("*") if path.is_file())
    assert done.stdout.splitlines()[: len(written)] == written
    assert "\npip install './lift[test]' && pytest ./lift\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("lift.cu", "there", "--case", "lift_case.py"), 2, "there is there already: delete it, or name another"),
        (("lift.cu", "json", "--case", "lift_case.py"), 2, "'json' cannot be one: name another folder"),
        (("lift.cu", "no/lift", "--case", "lift_case.py"), 2, "make it first"),
        (("lift.cu", "lift", "--case", "sift_case.py"), 1, "sift_case.py: "),
        (("no.cu", "lift", "--case", "lift_case.py"), 1, "no.cu"),
        (("lift.cu", "lift"), 2, "--case"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    words: tuple[str, ...], code: int, told: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    done = fourways("package", *(inputs / word if word.endswith((".cu", ".py")) else word for word in words))
    assert (done.exit_code, told in " ".join(said(done).split())) == (code, True), said(done)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
