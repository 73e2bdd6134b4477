"""On a GPU: every lesson executed whole (its own check tries every way at every awkward size)."""

import pytest

from fourways import lesson, toolchain

LESSONS = [found.slug for found in lesson.lessons_and_pages()]


@pytest.mark.long
@pytest.mark.parametrize("slug", LESSONS)
def test_lesson_runs_whole(slug: str) -> None:
    result = lesson.run_all([lesson.find(slug)])[0]
    assert result.outcome == "passed", result.error
    optional = {toolchain.missing(need) for need in ("two-gpus", *toolchain.MORE)}
    assert set(result.skipped) <= optional, "no way, and nothing that is locked, may be skipped on a GPU machine"
