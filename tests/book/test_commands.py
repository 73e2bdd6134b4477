"""The pages on the commands: their help, their module's text, and what was recorded of them, if it still fits."""

import json
from pathlib import Path

import pytest

from fourways import cli, kernels, reference

EXAMPLES = [(command, example) for command in reference.COMMANDS for example in command.examples]
NAMES = [f"{command.name} {example}".strip() for command, example in EXAMPLES]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages(cli.app)


def test_every_command_has_its_page(pages: dict[str, str]) -> None:
    assert list(pages) == ["time", "build", "sass", "link", "profile"]
    for name, text in pages.items():
        assert text.startswith(f"# fourways {name}\n")
        assert "| `--json` |" in text and "| `--figure` |" in text
        assert f"fourways {name} " in text.partition("## Options")[0], "the help teaches by example"


@pytest.mark.parametrize("command, example", EXAMPLES, ids=NAMES)
def test_recorded_examples_fit_the_kernels(command: reference.Command, example: str) -> None:
    path = reference.place(command.name, example, ".json")
    assert path.is_file(), "never recorded: `python -m fourways.reference` on a GPU machine"
    found = json.loads(path.read_text())
    assert found["command"] == f"fourways {command.name} {example}".strip()
    assert found["sources"] == reference.sources(example), "the kernel changed: `python -m fourways.reference`"
    assert found["tables"] and found["stamp"]["device"]
    assert reference.place(command.name, example, ".svg").is_file()


def test_nothing_else_lies_there() -> None:
    wanted = {reference.place(command.name, example, end) for command, example in EXAMPLES for end in (".json", ".svg")}
    there = {
        path for folder in ("results", "figures") for path in (kernels.root() / "book" / folder / "commands").iterdir()
    }
    assert there <= wanted


def test_page_shows_rows_and_figure(pages: dict[str, str]) -> None:
    text = pages["sass"]
    assert '<table class="fourways">' in text and "<td>constant</td>" in text
    assert "../figures/commands/sass_1.svg" in text
    assert reference.OWN["my.cu"] in text


def test_a_changed_kernel_or_no_recording_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "place", lambda *_: tmp_path / "none.json")
    assert "Not recorded on a GPU yet" in reference.pages(cli.app)["time"]
    stale = tmp_path / "stale.json"
    stale.write_text(json.dumps({"sources": "0", "tables": {}}))
    monkeypatch.setattr(reference, "place", lambda *_: stale)
    assert "The kernel has changed since this was recorded" in reference.pages(cli.app)["time"]


def test_a_command_without_a_page_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["doctor"]) == 2
    assert "no page on 'doctor'; there are: time, build" in capsys.readouterr().err


def test_a_failing_example_records_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "place", lambda command, example, suffix: tmp_path / f"x{suffix}")
    with pytest.raises(reference.ExampleError, match=r"fourways sass my.cu --entry nobody: .* there are: newton"):
        reference.record(reference.COMMANDS[2], "my.cu --entry nobody")
    assert list(tmp_path.iterdir()) == []
    files = reference.record(reference.COMMANDS[2], "my.cu -w nvrtc")
    assert sorted(path.suffix for path in files) == [".json", ".svg"]
