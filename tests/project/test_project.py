"""The template of a package, filled with a kernel and its case: what is refused, and a wheel built of it."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from protocols import Exported
from wheels import install, own_tests

from fourways import own_kernel, project, toolchain
from fourways.own_kernel import CaseError

HAS_GPU = not toolchain.missing("gpu")
HERE = Path(__file__).parent
KERNEL = Path(__file__).with_name("twice.cu").read_text(encoding="utf-8")
CASE = """
import numpy as np

sizes = (1, 33, 500)


def arguments(size):
    return {"x": np.arange(size, dtype=np.float32), "y": None, "n": np.int32(size)}


def reference(x):
    return {"y": 2 * x}
"""


def filled(folder: Path, kernel: str = KERNEL, case: str = CASE) -> Path:
    """The package `made` of a kernel and a case, given as texts."""
    (folder / "mine.cu").write_text(kernel)
    (folder / "case.py").write_text(case)
    project.write(own_kernel.read(folder / "mine.cu", folder / "case.py"), folder / "made")
    return folder / "made"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('derived = {"n": "x.size + 1"}', '{"n": "x.size + 1"} is 34 at size 33; there the case has 33'),
        ('derived = {"y": "x.size"}', 'is 33 at size 33; there the case has (33,); a shape is a tuple: "(x.size,)"'),
        ('derived = {"grid": "n"}', "is 33 at size 33; there the case has (1, 1, 1)"),
        ('derived = {"n": "THREADS"}', "at size 33: NameError"),
        ('derived = {"n": "x.size", "grid": "n"}', 'derived = {"grid": "n"} is 33 at size 33'),
        ('derived = {"m": "x.size"}', "m is no argument, no grid, no block and not shared"),
    ],
)
def test_what_a_case_derives_wrongly_is_refused(more: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=re.escape(told)):
        filled(tmp_path, case=CASE + more)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.py", "mine.cu"]


def test_names_with_a_meaning_and_headers_above_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="stream means something else in Python .*: rename it in mine.cu"):
        filled(tmp_path, KERNEL.replace("n)", "stream)", 1).replace("< n", "< stream"), CASE.replace('"n"', '"stream"'))
    with pytest.raises(CaseError, match="map means something else in Python"):
        filled(tmp_path, KERNEL.replace("twice(", "map("))
    (tmp_path / "above.h").write_text("")
    (tmp_path / "below").mkdir()
    with pytest.raises(CaseError, match="includes .*above.h: copy that header into the folder of the kernel first"):
        filled(tmp_path / "below", f'#include "../above.h"\n{KERNEL}')


def test_the_readme_shows_the_call_and_python_is_python(tmp_path: Path) -> None:
    made = filled(tmp_path, case=CASE + 'derived = {"n": "x.size", "grid": "-(-n // 256)"}\n')
    assert "\ntwice(x, y, block=block)\n" in (made / "README.md").read_text()
    files = [compile(file.read_text(), file.name, "exec") for file in made.rglob("*.py")]
    assert len(files) >= 3


Installed = Callable[[str], Path]


@pytest.fixture(scope="module")
def installed(made_once: Callable[[str, Callable[[Path], object]], Path]) -> Installed:
    """Give the folder with a package and its installation, in `site`, by the package's name."""
    return lambda name: made_once(name, lambda folder: install(HERE / f"{name}.cu", folder))


@pytest.mark.long
@pytest.mark.parametrize(("name", "count"), [("lift", 3), ("sift", 1)])
def test_its_own_tests_pass(name: str, count: int, installed: Installed) -> None:
    said = own_tests(name, installed(name))
    assert HAS_GPU or f"{count} passed, " in said


class Array(Exported):
    """Stands for a GPU array where a call is refused before the launch."""

    def __init__(self, shape: tuple[int, ...], typestr: str = "<f4", **more: object) -> None:
        super().__init__(shape, typestr, **more)
        self.shape = shape


@pytest.mark.long
@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"seed": -1}, ValueError, "seed is -1; wanted uint64"),
        ({"shift": 256}, ValueError, "shift is 256; wanted uint8"),
        ({"shift": "2"}, TypeError, "shift is 2; wanted uint8"),
        ({"x": Array((4,), "<f8")}, TypeError, "x has dtype float64; wanted float32"),
        ({"y": Array((3,))}, ValueError, r"y has shape \(3,\); wanted \(4,\)"),
        ({"y": Array((4,), read_only=True)}, ValueError, "y is read-only"),
        ({"band": 3}, TypeError, "band has dtype int64"),
        ({"band": (1, (2, 3))}, TypeError, "band is a tuple; wanted np.array"),
        pytest.param({}, RuntimeError, "cudaError", marks=pytest.mark.skipif(HAS_GPU, reason="it would be launched")),
    ],
)
def test_a_wrong_argument_is_named(
    changed: dict, error: type[Exception], told: str, installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed("lift") / "site")
    module = importlib.import_module("lift")
    band = np.zeros((), module.BAND_DTYPE)
    arrays = {"x": Array((4,)), "y": Array((4,)), "keys": Array((2,), "<u8")}
    given = arrays | {"seed": np.uint64(2**63), "shift": np.uint8(255), "band": band} | changed
    with pytest.raises(error, match=f"^lift: {told}"):
        module.lift(**given)
