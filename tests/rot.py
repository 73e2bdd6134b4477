"""Runs lessons, book and tests with the newest of every dependency: `make rot`. The report is build/rot.md.

It works on a copy of the clone in build/rot, in an environment of its own, without the bounds of `pyproject.toml`. A
DeprecationWarning that the package's or a lesson's own code causes is an error there. A failure ends its lesson alone.
`python tests/rot.py 01 book` runs only these tasks; tasks are lessons' numbers, the names of pages that run, `book`,
`book-sphinx` (the book with the newest Sphinx), `pages` (the tests of the whole book, but those of axe-core) and
`tests` (the quick ones).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from newest import ROOT, NewestError, environment, run
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from fourways import files, install, lesson

ROT = ROOT / "build" / "rot"
CLONE = ROT / "clone"
LEFT_OUT = ("more", "pycuda")
"""Extras that only a machine with a GPU can use."""
HELD = {"jupyter-book": ("<2", "version 2 is another program, which does not use Sphinx")}
"""Dependencies that stay within a bound, and the reason."""
TOOLS = ("pip", "uv")
"""What `make setup` adds to an environment: lesson 05 calls pip, and `book-sphinx` calls uv."""
LIMIT = 3600
"""Seconds that a task may take."""


class Outcome(NamedTuple):
    """A task's name, its seconds, what broke (or ""), and the warnings that it printed."""

    task: str
    seconds: float
    error: str
    warnings: list[str]


def dependencies(pyproject: Path = ROOT / "pyproject.toml") -> list[str]:
    """Return the direct dependencies that need no GPU, with extras, and without bounds except those in HELD."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    lists = [project["dependencies"], *(entries for name, entries in extras if name not in LEFT_OUT)]
    unbound = []
    for requirement in (Requirement(entry) for entries in lists for entry in entries):
        if requirement.marker is None or requirement.marker.evaluate():
            brackets = f"[{','.join(sorted(requirement.extras))}]" * bool(requirement.extras)
            bound, _ = HELD.get(requirement.name, ("", ""))
            unbound.append(requirement.name + brackets + bound)
    return unbound


def strict() -> str:
    """Return PYTHONWARNINGS by which a DeprecationWarning is an error in the package and in a lesson's cells."""
    paths = [
        path.relative_to(ROOT / "scripts").with_suffix("") for path in (ROOT / "scripts").rglob("fourways/**/*.py")
    ]
    modules = ["__main__", *(".".join(path.parts).removesuffix(".__init__") for path in paths)]
    return ",".join(f"error::DeprecationWarning:{module}" for module in sorted(modules))


def attempt(task: str, python: Path) -> Outcome:
    """Run a task in the copy, and return what broke."""
    words = {
        "book": ["-m", "fourways", "book"],
        "book-sphinx": ["tests/newest.py", "build/sphinx"],
        "pages": ["-m", "pytest", "-q", "tests/book/test_book.py", "tests/book/test_links.py", "--tb=short", "-rfEs"],
        "tests": ["-m", "pytest", "-q", "-m", "not long", "-n", str(os.cpu_count()), "--tb=short", "-rfE"],
    }.get(task, ["-m", "fourways", "run", task])
    variables = {**os.environ, "PYTHONWARNINGS": strict(), "FOURWAYS_ROOT": str(CLONE)}
    command = [python, "-u", *words]  # unbuffered, so that a task out of time has printed what it wrote
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=CLONE, env=variables, capture_output=True, text=True, timeout=LIMIT)
        text, failed = files.plain(done.stdout + done.stderr), done.returncode != 0
    except subprocess.TimeoutExpired as expired:
        so_far = (expired.stdout or b"").decode(errors="replace")  # bytes, in spite of `text`
        text, failed = files.plain(f"{so_far}\nno end after {LIMIT} seconds"), True
    printed = text
    for notebook in (CLONE / "build" / "lessons").glob(f"{task}*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        printed += "".join("".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", []))
    warnings = sorted(set(re.findall(r"\w+Warning: .*", printed)))
    return Outcome(task, time.monotonic() - start, text.strip() if failed else "", warnings)


def culprit(text: str, modules: dict[str, str]) -> str:
    """Return the dependency that a traceback or warning names last: by its folder, else as a word; or "".

    The ending of a file's name is no word: pytest installs a module `py`.
    """
    folders = re.findall(r"site-packages/(\w+)", text)
    words = [word for word in re.findall(r"(?<![\w.-])[\w-]+", text) if word in modules]
    return next((modules[name] for name in reversed([*words, *folders]) if name in modules), "")


def sentences(
    versions: dict[str, dict[str, str]], outcomes: list[Outcome], modules: dict[str, str], tasks: Iterable[str]
) -> Iterator[str]:
    """Yield a list item for each finding: what passes, fails, warns, is newer, was not tried. Arguments as `report`."""
    passed = sum(not outcome.error for outcome in outcomes)
    yield f"- {passed} of {len(outcomes)} tasks pass with the newest dependencies that can be installed together."
    if unfinished := [task for task in tasks if task not in {outcome.task for outcome in outcomes}]:
        yield f"- The run has not ended. Without a result: {', '.join(unfinished)}."
    for outcome in outcomes:
        if outcome.error:
            named = culprit(outcome.error, modules)
            suspect = f" The output names {named} last." if named else ""
            yield f"- **`{outcome.task}` fails:** `{outcome.error.splitlines()[-1].strip()}`.{suspect}"
        elif outcome.warnings:
            yield f"- `{outcome.task}` passes, but prints warnings."
    newer = [f"{name} {of['tried']}" for name, of in versions.items() if of["tried"] not in of["pinned"].split(", ")]
    if newer:
        counted = f"{len(newer)} of {len(versions)}"
        yield f"- {counted} direct dependencies are newer here than in `requirements.lock`: {', '.join(newer)}."
    for name, of in versions.items():
        if of["tried"] != of["newest"]:
            why = HELD[name][1] if name in HELD else "it does not fit the other packages"
            yield f"- {name} {of['newest']} was not tried, because {why}. Version {of['tried']} was tried instead."


def report(
    versions: dict[str, dict[str, str]], outcomes: list[Outcome], modules: dict[str, str], tasks: Iterable[str] = ()
) -> str:
    """Return the page "What breaks next" in Markdown. `versions` has each dependency's `pinned`, `tried` and `newest`.

    `modules` names the dependency of each importable module; `tasks` are all tasks of the run.
    """
    broke: dict[str, list[str]] = {}
    for outcome in outcomes:
        for text in [outcome.error, *outcome.warnings]:
            if text:
                kind = "warning in" if text != outcome.error else "failure of"
                broke.setdefault(culprit(text, modules), []).append(f"{kind} {outcome.task}")
    python = ".".join(map(str, sys.version_info[:3]))
    lines = ["# What breaks next", "", f"Run on {date.today()} with Python {python}; no GPU is used."]
    lines += ["", *sentences(versions, outcomes, modules, tasks)]
    lines += ["", "| dependency | pinned | newest | broke or warned |", "|---|---|---|---|"]
    for name, of in versions.items():
        tried = of["newest"] + (f" (tried: {of['tried']})" if of["tried"] != of["newest"] else "")
        lines.append(f"| {name} | {of['pinned']} | {tried} | {', '.join(sorted(set(broke.pop(name, []))))} |")
    if broke:
        rest = sorted({each for names in broke.values() for each in names})
        lines += ["", f"No direct dependency is named by: {', '.join(rest)}."]
    lines += ["", "| task | seconds | result |", "|---|---|---|"]
    lines += [f"| {each.task} | {each.seconds:.0f} | {'failed' if each.error else 'passed'} |" for each in outcomes]
    for each in outcomes:
        details = each.error.splitlines()[-40:] or each.warnings
        lines += ["", f"## {each.task}", "", "```text", *details, "```"] if details else []
    return "\n".join(lines) + "\n"


def installed(python: Path, tried: dict[str, str]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the versions of each direct dependency, and the dependency of each module and of each name."""
    lock = install.read_lock((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    listed = run(install.find_uv(), "pip", "list", "--outdated", "--format", "json", "--python", python)
    newest = {canonicalize_name(each["name"]): each["latest_version"] for each in json.loads(listed)}
    names = [canonicalize_name(Requirement(each).name) for each in dependencies()]
    versions = {}
    for name in sorted(names):
        pins = sorted({re.split(r"[\s;]", entry.partition("==")[2])[0] for entry in lock.get(name, [])})
        versions[name] = {"pinned": ", ".join(pins), "tried": tried[name], "newest": newest.get(name, tried[name])}
    ask = "import importlib.metadata, json; print(json.dumps(importlib.metadata.packages_distributions()))"
    found: dict[str, Any] = json.loads(run(python, "-c", ask))
    modules = {module: canonicalize_name(of[0]) for module, of in found.items() if canonicalize_name(of[0]) in names}
    return versions, modules | {name: name for name in names}


def main() -> None:
    """Run all tasks, or those named on the command line, and write the report."""
    lessons = lesson.lessons_and_pages()
    tasks = sys.argv[1:] or [*(each.number for each in lessons), "book", "book-sphinx", "pages", "tests"]
    try:
        python, tried = environment(ROT / "env", [*dependencies(), *TOOLS])
        shutil.rmtree(CLONE, ignore_errors=True)
        ignored = shutil.ignore_patterns("build", ".venv", ".git", "__pycache__", "notebooks", ".*_cache")
        shutil.copytree(ROOT, CLONE, ignore=ignored)
        options = ("--quiet", "--no-deps", "--no-build-isolation")
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        run(
            install.find_uv(),
            "pip",
            "install",
            *options,
            "--python",
            python,
            "--editable",
            CLONE,
            env={**os.environ, "PATH": path},
        )
        versions, modules = installed(python, tried)
    except NewestError as error:
        sys.exit(str(error))

    outcomes: list[Outcome] = []

    def tell(task: str) -> None:
        outcome = attempt(task, python)
        outcomes.append(outcome)
        print(f"{task}: {'failed' if outcome.error else 'passed'} in {outcome.seconds:.0f} s", flush=True)
        files.write_text(ROOT / "build" / "rot.md", report(versions, sorted(outcomes), modules, tasks))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(tell, [task for task in tasks if task != "tests"]))
    if "tests" in tasks:
        tell("tests")  # by themselves, because they use all processors
    print("build/rot.md")


if __name__ == "__main__":
    main()
