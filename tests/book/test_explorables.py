"""The explorables of lessons: the kernel in WebAssembly against the host way, the model of time against Python's."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from fourways import choosing, host, kernels, tables
from fourways.book import costs, wasm
from fourways.ways import WAYS


def in_node(root: Path, expression: str, *scripts: str) -> Any:
    """The value of an expression of JavaScript after the explorables' scripts."""
    if not (node := shutil.which("node")):
        pytest.skip("no node here, which runs JavaScript: apt-get install nodejs")
    texts = [(root / "book" / "_explorables" / script).read_text() for script in scripts]
    texts = ["const document = { addEventListener() {} };", *texts, f"console.log(JSON.stringify({expression}));"]
    done = subprocess.run([node, "-"], input="\n".join(texts), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_modules_were_made_from_todays_sources() -> None:
    assert wasm.fingerprint() in wasm.script().read_text().splitlines()[0], "run `make wasm`"


def test_the_fingerprint_is_that_of_kernel_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    today = wasm.fingerprint()
    monkeypatch.setattr(kernels, "path", lambda name: kernels.root() / "cpp" / "kernels" / "saxpy.cuh")
    assert wasm.fingerprint() != today
    monkeypatch.undo()
    monkeypatch.setattr(wasm, "VARIANTS", {})
    assert wasm.fingerprint() != today


def test_clang_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match="apt-get install clang lld"):
        wasm.build()


@pytest.mark.parametrize("shape", [(64, 64), (33, 47), (1, 64)])
def test_the_answers_are_those_of_the_host_way(root: Path, shape: tuple[int, int]) -> None:
    a = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    for variant, block in {"0,0": (4, 2), "16,2": (4, 2), "32,1": (4, 2)}.items():
        call = f"recordWarp({variant}, 16, {shape[0]}, {shape[1]})"
        answer = in_node(root, call, "transpose_wasm.js", "access_pattern.js")
        b = np.full(shape[::-1], np.nan, np.float32)
        module = host.compile(kernels.path("transpose"), (*wasm.VARIANTS[variant], "-DCOLS=4", "-DROWS=2"))
        module.get_function("transpose")((1, 1), block, (a, b, *map(np.int64, shape)))
        assert answer["right"] and np.array_equal(np.reshape(answer["b"], b.shape), b), variant


def expected(tile: int, pad: int, columns: int) -> list[list[Any]]:
    """The steps of the first warp as the kernel's text has them: array, access, and sectors or turns."""
    threads = [(lane % columns, lane // columns) for lane in range(32)]

    def sectors(row: int, column: int) -> int:
        return len({(64 * thread[row] + thread[column]) // 8 for thread in threads})

    def turns(row: int, column: int) -> int:
        floats = {(tile + pad) * thread[row] + thread[column] for thread in threads}
        return max(Counter(float % 32 for float in floats).values())

    if not tile:
        return [["a", False, sectors(1, 0)], ["b", True, sectors(0, 1)]]
    shared = [["tile", True, turns(1, 0)], ["tile", False, turns(0, 1)]]
    return [["a", False, sectors(1, 0)], *shared, ["b", True, sectors(1, 0)]]


def test_the_counts_are_those_of_the_kernels_text(root: Path) -> None:
    choices = [
        (*map(int, variant.split(",")), columns)
        for variant in wasm.VARIANTS
        for columns in (4, 8, 16, 32)
        if int(variant.split(",")[0]) % columns == 0
    ]
    count = '(s) => [s.array, s.writes, s.array === "tile" ? turns(s.floats) : sectors(s.floats)]'
    steps = f"{json.dumps(choices)}.map((choice) => recordWarp(...choice).steps.map({count}))"
    counted = in_node(root, steps, "transpose_wasm.js", "access_pattern.js")
    assert dict(zip(choices, counted, strict=True)) == {choice: expected(*choice) for choice in choices}
    assert dict(zip(choices, counted, strict=True))[32, 0, 32][2] == ["tile", False, 32], "as the lesson says"


def random_cost(name: str, random: Random) -> choosing.Cost:
    start, launch = random.uniform(0.1, 2), random.uniform(1e-6, 2e-5)
    return choosing.Cost(
        name,
        {"import": start / 2, "load": start / 2},
        low=start * random.uniform(0.7, 1),
        high=start * random.uniform(1, 1.3),
        launch=launch,
        cold=random.choice([0, random.random()]),
        edit=random.random(),
        launch_low=random.choice([None, launch * 0.9]),
        launch_high=random.choice([None, launch * 1.1]),
    )


def test_the_pages_model_is_that_of_choose(root: Path) -> None:
    random = Random(14)
    asked, answers = [], []
    for _ in range(300):
        known = {name: random_cost(name, random) for name in ("nvrtc", "nvcc", "pycuda", "pybind11")}
        kernel, launches = 10 ** random.uniform(-7, -2), int(10 ** random.uniform(0, 9))
        runs, edits, nodes = random.randint(1, 500), random.choice([0, 480]), random.choice([1, 64])
        cold = random.randint(0, runs)
        answers.append(choosing.choose(known, kernel, launches, runs, cold, edits, nodes).rows)
        numbers = {"kernel": kernel, "launches": launches, "runs": runs, "cold": cold, "edits": edits, "nodes": nodes}
        asked.append([[costs.coefficients(cost) for cost in known.values()], numbers])
    evaluated = in_node(root, f"{json.dumps(asked)}.map((question) => choose(...question))", "program_time.js")
    for rows, answer in zip(evaluated, answers, strict=True):
        assert [row["way"] for row in rows] == [WAYS[row["way"]].short for row in answer]
        assert [row["verdict"] for row in rows] == [row["verdict"] for row in answer]
        for key in ("total", "low", "high"):
            assert [row[key] for row in rows] == pytest.approx([row[f"{key}_seconds"] for row in answer], rel=1e-12)
        assert [sum(row["parts"].values()) for row in rows] == pytest.approx([row["total"] for row in rows])


def test_the_page_writes_seconds_as_tables_do(root: Path) -> None:
    values = [0, 1e-12, 1.5e-7, 9.996e-7, 0.00123, 0.0999, 0.9996, 1, 59.95, 1034, 123456.7]
    assert in_node(root, f"{values}.map(seconds)", "program_time.js") == [tables.seconds(value) for value in values]


def test_the_recorded_costs_are_exported(root: Path) -> None:
    known = choosing.costs(*choosing.recorded())
    exported = json.loads(costs.script().removeprefix("const programCosts =").rstrip(";\n"))
    assert exported["costs"] == [costs.coefficients(cost) for cost in known.values()]
    assert exported["small"] == choosing.SMALL_SECONDS and exported["origin"] == known["nvrtc"].origin


def test_without_recordings_no_costs_are_exported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernels, "root", lambda: tmp_path)
    assert '"costs": []' in costs.script()
