"""What each plan of a storm asks of the workers, with a client that runs each task at once."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from fourways import kernels
from fourways.experiments import cluster
from fourways.experiments.cluster import tasks
from fourways.experiments.cluster.mishaps import as_nobody, compiled, with_small_files


class Inline:
    """A client of two workers, which are this process."""

    def scheduler_info(self, **_: Any) -> dict[str, Any]:
        return {"workers": {"one": {}, "two": {}}}

    def submit(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> Future:
        done: Future = Future()
        done.set_result(function(*arguments))
        return done

    def gather(self, asked: list[Future]) -> list[Any]:
        return [each.result() for each in asked]

    def run(self, function: Callable[[], float]) -> dict[str, float]:
        return {"one": function(), "two": function()}


def test_every_plan_asks_for_the_kernel_and_the_architecture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def build(source: str | Path, arch: str, cache: Path | None = None) -> tasks.Parcel:
        asked.append((source if isinstance(source, Path) else source.partition("\n")[2], arch))
        return tasks.Parcel(arch, b"", built=True)

    for name in ("compile_cubin", "compile_by_nvrtc", "compile_by_nvcc"):
        monkeypatch.setattr(tasks, name, build)
    monkeypatch.setattr(tasks, "own_cache", lambda: tmp_path / "worker" / "cubins")
    path = kernels.path("stencil")
    table = cluster.compare_plans(Inline(), path, "sm_90", nvcc=True, rounds=1)
    builds = {row["plan"]: row["built"] for row in table.rows}
    assert builds.pop("ahead of time, imported") == [0]
    assert builds.pop("one builds, broadcast") == builds.pop("one by nvcc, broadcast") == [1]
    assert set(map(tuple, builds.values())) == {(2,)}
    assert set(asked) == {(path.read_text(encoding="utf-8"), "sm_90"), (path, "sm_90")}


@pytest.mark.parametrize("task", [compiled, with_small_files, as_nobody])
def test_a_task_that_goes_wrong_asks_for_the_kernel_in_its_cache(
    task: Callable[[str, Path], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[object, ...]] = []

    def build(*arguments: object) -> tasks.Parcel:
        asked.append(arguments)
        return tasks.Parcel("sm_90", b"", built=False)

    monkeypatch.setattr(tasks, "compile_cubin", build)
    assert task("text", tmp_path) == "came from the cache"
    assert asked[-1] == ("text", "sm_90", tmp_path)
