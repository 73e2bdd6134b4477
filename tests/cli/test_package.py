"""`fourways package`."""

from pathlib import Path

import pytest
from commands import fourways, said


@pytest.fixture
def cases(root: Path) -> Path:
    return root / "tests" / "cases"


def test_it_prints_what_it_wrote_and_how_to_go_on(cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("package", cases / "softclip.cu", "--case", cases / "softclip.py")
    done = fourways(*words)
    assert done.exit_code == 0, said(done)
    assert (tmp_path / "softclip" / "src" / "softclip.cu").is_file()
    assert "├── src" in done.stdout and "test_softclip.py" in done.stdout
    assert "n is x.size\n" in done.stdout and "pip install ./softclip\n" in done.stdout
    assert "the launch has blocks of 256 threads, and a thread for each of x.size\n" in done.stdout
    (tmp_path / "softclip" / "README.md").write_text("mine")
    again = fourways(*words)
    assert again.exit_code == 0 and "kept as you edited it: softclip/README.md; --force writes over it" in said(again)
    forced = fourways(*words, "--force")
    assert forced.exit_code == 0 and "kept" not in said(forced)
    (tmp_path / "softclip" / ".fourways.json").unlink()
    foreign = fourways(*words)
    assert foreign.exit_code == 2 and "is not empty: name a new folder" in said(foreign)
    named = fourways(*words, "--name", "soft", tmp_path / "other")
    assert named.exit_code == 0 and f"pip install {tmp_path / 'other'}\n" in named.stdout
    assert (tmp_path / "other" / "src" / "soft" / "__init__.py").is_file()


@pytest.mark.parametrize(
    "words, code, told",
    [
        (("softclip.cu", "--case", "softclip.py", "--name", "soft-clip"), 2, "Invalid value for --name"),
        (("softclip.cu", "--case", "softclip.py", "--name", "json"), 2, "would hide the module json"),
        (("softclip.cu", "--case", "softclip.py", "NO/FOLDER"), 2, "make it first"),
        (("softclip.cu", "--case", "softclip.py", "--name", "getattr"), 2, "'getattr' has a meaning inside"),
        (("softclip.cu", "--case", "no.py"), 1, "no.py"),
        (("softclip.cu", "--case", "fir.py"), 1, "make_inputs gives"),
        (("softclip.cu", "--case", "softclip.py", "--entry", "hard"), 1, "no kernel 'hard' in softclip.cu"),
        (("no.cu", "--case", "softclip.py"), 1, "no file"),
        (("softclip.cu",), 2, "softclip.cu begins one; give it a reference"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    words: tuple[str, ...], code: int, told: str, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fourways("package", *(cases / word if word.endswith((".cu", ".py")) else word for word in words))
    assert (done.exit_code, told in said(done)) == (code, True), said(done)
    assert list(tmp_path.iterdir()) == []
