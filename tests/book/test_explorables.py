"""Lesson 04's figure that the reader changes: the kernel in WebAssembly against the host way."""

import json
import shutil
import subprocess
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
