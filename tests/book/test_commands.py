"""The pages on the commands: their help, their packages' docstrings, and recorded runs that still fit."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.main import get_command

from fourways import book, cli
from fourways.book.examples import COMMANDS, Command, ExampleError, record_example

GROUP = get_command(cli.app)
SASS = next(command for command in COMMANDS if command.name == "sass")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return book.pages(GROUP)


@pytest.fixture
def clone(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with the kernels and nothing recorded."""
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    shutil.copytree(root / "lessons", tmp_path / "lessons")
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    return tmp_path


def test_every_command_has_its_page(pages: dict[str, str]) -> None:
    assert list(pages) == ["time", "signature", "build", "sass", "link", "profile", "timeline", "choose"]
    for name, text in pages.items():
        assert text.startswith(f"# fourways {name}\n")
        assert (
            "| `--json` |" in text
            and ("| `--figure` |" in text) == (name != "signature")
            and "context" not in text.lower().split("| `--")[0]
        )
        assert f"fourways {name} " in text.partition("## Options")[0], "the help teaches by example"
        assert len(text.partition("## What is behind it\n\n")[2]) > 200, "the package says what it does"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_recorded_examples_fit_the_kernels(pages: dict[str, str], command: Command) -> None:
    told = "record it: `python -m fourways.book commands` on a GPU machine"
    text = pages[command.name]
    assert "Not recorded" not in text and "has changed" not in text, told
    where = "" if command.name in ("choose", "signature") else "on **"  # which need no GPU
    assert text.count(f"Outputs recorded {where}") == len(command.examples), told


def test_all_that_was_recorded_is_shown(root: Path, pages: dict[str, str]) -> None:
    whole = "\n".join(pages.values())
    shown = set(re.findall(r"figures/commands/([^\s/]+)\.svg", whole))
    for folder in ("results", "figures"):
        there = {path.stem for path in (root / "book" / folder / "commands").glob("*.*")}
        there = {stem for stem in there if not stem.startswith("signature")}  # which draws nothing
        assert shown <= there
        assert len(there - shown) == whole.count("The code of this example has changed since"), "the others are old"


def test_a_page_shows_source_rows_and_figure(pages: dict[str, str]) -> None:
    text = pages["sass"]
    assert '<table class="fourways">' in text and '<th scope="row">constant</th>' in text
    assert "../figures/commands/sass_1.svg" in text
    assert 'extern "C" __global__ void newton' in text
    assert "{dropdown} The table of 114 rows" in pages["time"], "a long table is folded"


def test_a_changed_kernel_or_no_recording_is_said(root: Path, clone: Path) -> None:
    assert book.pages(GROUP)["link"].count("Not recorded on a GPU yet") == 2
    shutil.copytree(root / "book" / "results" / "commands", clone / "book" / "results" / "commands")
    kernel = clone / "cpp" / "kernels" / "doublify.cuh"
    kernel.write_text(kernel.read_text() + "// changed\n")
    text = book.pages(GROUP)["time"]
    assert text.count("The code of this example has changed since this was recorded") == 1, "of my.cu it has not"
    assert text.count("Outputs recorded on **") == 1


def test_a_failing_example_records_nothing(clone: Path) -> None:
    with pytest.raises(ExampleError, match=r"fourways sass my.cu --entry nobody: .* there are: newton"):
        record_example(SASS, "my.cu --entry nobody")
    assert not (clone / "book").exists()


def test_an_example_is_recorded_with_its_figure(clone: Path) -> None:
    rows, figure = record_example(SASS, "my.cu --arch 90 -w nvrtc")
    assert rows == clone / "book" / "results" / "commands" / "sass_my.cu_arch_90_w_nvrtc.json"
    assert figure == clone / "book" / "figures" / "commands" / "sass_my.cu_arch_90_w_nvrtc.svg"
    found = json.loads(rows.read_text())
    assert found["command"] == "fourways sass my.cu --arch 90 -w nvrtc"
    assert found["tables"]["sass"] and "<svg" in figure.read_text()


def test_a_command_without_a_page_is_named() -> None:
    command = [sys.executable, "-m", "fourways.book", "commands", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "no page on 'doctor'; there are: time, signature, build, sass, link, profile, timeline, choose\n",
    )


def test_an_example_on_another_gpu_stands_below_the_books(
    clone: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("results", "figures"):
        shutil.copytree(root / "book" / folder / "commands", clone / "book" / folder / "commands")
    before = {path: path.read_bytes() for path in (clone / "book").rglob("*") if path.is_file()}
    rows = clone / "book" / "results" / "commands" / "sass_1.json"

    def run(call: list[str], cwd: str, **_: object) -> SimpleNamespace:
        Path(cwd, "rows.json").write_text(rows.read_text().replace("NVIDIA H200", "My GPU"))
        Path(cwd, "figure.svg").write_text("<svg></svg>")
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    own = [clone / "book" / kind / "commands" / "my-gpu" / f"sass_1{end}" for kind, end in
           (("results", ".json"), ("figures", ".svg"))]  # fmt: skip
    assert record_example(SASS, "1") == own == record_example(SASS, "1")
    assert {path: path.read_bytes() for path in before} == before
    text = book.pages(GROUP)["sass"]
    first, second = (text.index(f"Outputs recorded on **{device}**") for device in ("NVIDIA H200", "My GPU"))
    assert first < text.index("../figures/commands/sass_1.svg") < second < text.index("commands/my-gpu/sass_1.svg")
