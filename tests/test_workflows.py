"""GitHub's workflows: nothing is published before the tests have passed, nor by what a moved tag names."""

import re
from pathlib import Path
from typing import Any

import yaml


def workflow(root: Path, name: str) -> dict[Any, Any]:
    """A workflow as GitHub reads it, except that YAML 1.1 takes the key `on` for True."""
    read: dict[Any, Any] = yaml.safe_load((root / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    return read


def test_publishing_waits_for_the_tests(root: Path) -> None:
    jobs = workflow(root, "publish.yml")["jobs"]
    tests = [name for name, job in jobs.items() if job.get("uses") == "./.github/workflows/ci.yml"]
    assert tests and "workflow_call" in workflow(root, "ci.yml")[True]
    waits = {name: job["needs"] for name, job in jobs.items() if name not in tests}
    assert waits == {"book": tests[0], "publish": "book"}
    assert not any("if" in job for job in jobs.values()), "a condition such as always() would not wait for success"


def test_only_the_job_that_publishes_may_write(root: Path) -> None:
    publish = workflow(root, "publish.yml")
    assert publish["permissions"] == workflow(root, "ci.yml")["permissions"] == {"contents": "read"}
    assert [name for name, job in publish["jobs"].items() if "permissions" in job] == ["publish"]
    used = [step.get("uses", "").split("/")[0] for step in publish["jobs"]["publish"]["steps"]]
    assert used == ["actions", "peaceiris", ""] and "make" not in str(publish["jobs"]["publish"])


def test_actions_are_pinned_by_commit(root: Path) -> None:
    """A tag can be moved. Each comment says which tag it was."""
    for file in (root / ".github" / "workflows").iterdir():
        for line in re.findall(r"uses: (?!\./)(.*)", file.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v[\d.]+", line), f"{file.name}: {line}"
