"""Lesson 04's figure that the reader changes: the kernel in WebAssembly against the host way."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourways import host, kernels
from fourways.book import wasm


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
