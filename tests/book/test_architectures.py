"""The table of lessons and GPUs: what it says is what the compilers say of today's kernels."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fourways import building, lesson, toolchain
from fourways.book import architectures

SAID = json.loads(architectures.file().read_text())["lessons"]


@pytest.mark.parametrize("target", lesson.lessons_and_pages(), ids=lambda each: each.slug)
def test_the_compilers_were_asked_about_todays_kernels(target: lesson.Lesson) -> None:
    assert architectures.up_to_date(target, SAID), "make architectures"


def test_a_row_made_again_is_the_same() -> None:
    assert architectures.compiled(lesson.find("first_minutes")) == SAID["first_minutes"]


def test_texts_in_cells_are_kernels_too_but_those_of_exercises_are_not() -> None:
    named = architectures.texts(lesson.find("04"))
    assert named["transpose.cuh"] == lesson.kernel_file("transpose")
    texts = [text for text in named.values() if isinstance(text, str)]
    assert any("naive" in text for text in texts) and all("__global__" in text for text in texts)
    exercise = "\n".join(lesson.find("your_own_kernel").cells("exercise"))
    assert "__global__ void mine" in exercise
    assert not any("void mine" in str(text) for text in architectures.texts(lesson.find("your_own_kernel")).values())


def test_a_refusal_is_a_no_and_a_change_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, Any] = json.loads(json.dumps(SAID))
    both = said["00_two_workflows"]["kernels"]["doublify.cuh"]
    both["nvrtc"]["75"] = both["nvcc"]["75"] = "refused"
    said["01_doublify"]["kernels"]["doublify.cuh"]["nvrtc"]["75"] = "refused"  # nvcc takes it
    said["02_saxpy"]["sources"] = "of another day"
    del said["03_reduce_and_scan"]
    path = tmp_path / "architectures.json"
    path.write_text(json.dumps({"stamp": {}, "lessons": said}))
    monkeypatch.setattr(architectures, "file", lambda: path)
    shown = {row["lesson"].number: row for row in architectures.rows()}
    assert [shown[number]["75"] for number in ("00", "01", "02", "03")] == ["no", "yes", "–", "–"]
    assert shown["00"]["80"] == "yes" and shown["02"]["90"] == "ran"


def test_the_largest_call_is_one_that_was_timed() -> None:
    shown = {row["lesson"].slug: row["bytes"] for row in architectures.rows()}
    assert shown["01_doublify"] == 2 * 4 * 2**26, "an input and an output"


def test_the_page_has_a_row_for_each_lesson_and_a_column_for_each_architecture() -> None:
    page = architectures.page()
    assert architectures.GENERATIONS.keys() == set(toolchain.ARCHITECTURES)
    assert re.findall(r"<br>sm_(\d+)<", page) == list(toolchain.ARCHITECTURES)
    linked = re.findall(r'href="lessons/(\w+)\.html"', page)
    assert linked == [each.slug for each in lesson.lessons_and_pages()]


def test_the_oldest_architecture_is_the_oldest_that_the_compilers_know() -> None:
    """The page says that CUDA 13 begins with 7.5."""
    for compiler in building.COMPILERS:
        with pytest.raises(building.BuildError):
            building.build(lesson.kernel_file("doublify"), compiler, "70")
