"""The five builds side by side without a GPU: rows, tables, figures, for three architectures."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fourways import link_builds, tables, toolchain
from fourways.kernels import InputError
from fourways.link_builds.compare import reference

ARCHITECTURES = (pytest.param("sm_75", marks=pytest.mark.long), "sm_90", pytest.param("sm_120", marks=pytest.mark.long))
CALLED = ("PTX, nvJitLink", "nvcc -rdc=true")
LIBRARY = """extern "C" __device__ float f(float x);
extern "C" __global__ void k(const float* x, float* y, long long n) { y[threadIdx.x] = f(x[threadIdx.x]); }
"""
DEFINES = 'extern "C" __device__ float f(float x) { return x + 1; }\n'


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "gpus", list)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def rows(request: pytest.FixtureRequest, made_once: Callable[..., Path]) -> list[tables.Row]:
    """The five builds of the default program for an architecture; as JSON brings them back."""

    def link(folder: Path) -> None:
        (folder / "rows.json").write_text(json.dumps(link_builds.link_all(archs=[request.param])))

    return json.loads((made_once(f"linked-{request.param}", link) / "rows.json").read_text())


def test_lto_inlines_what_other_links_call(rows: list[tables.Row]) -> None:
    assert [row["build"] for row in rows] == list(link_builds.BUILDS)
    for row in rows:
        assert row["error"] is None
        called = row["build"] in CALLED
        assert (row["inlined"], row["calls"] > 0) == (not called, called)
        assert row["functions"] == (["user_transform"] if called else [])


def test_a_call_costs_registers_and_bytes(rows: list[tables.Row]) -> None:
    called, inlined = ([row for row in rows if (row["build"] in CALLED) is wanted] for wanted in (True, False))
    for what in ("registers", "bytes"):
        assert min(row[what] for row in called) > max(row[what] for row in inlined)


def test_lto_makes_the_one_source_build_again(rows: list[tables.Row]) -> None:
    assert len({row["registers"] for row in rows if row["inlined"]}) == 1


def test_the_table_shows_it(rows: list[tables.Row]) -> None:
    table = link_builds.table(json.loads(json.dumps(rows)))
    cells = {line[0]: line[-1] for line in table.cells()}
    assert cells["nvcc -dlto"] == "inlined"
    assert cells["nvcc -rdc=true"] == "64 calls left"
    assert rows[0]["link_seconds"] is None
    assert all(row["link_seconds"] > 0 for row in rows[1:])
    assert f"apply_transform for {rows[0]['arch']}. Not run: no GPU here." in str(table)
    assert not {"kernel", "check", "arch"} & {heading for heading, _ in table.columns}


def test_several_architectures_side_by_side() -> None:
    builds = ["PTX, nvJitLink", "LTO-IR, nvJitLink"]
    rows = link_builds.link_all([LIBRARY, DEFINES], "k", ["75", "sm_120"], builds=builds)
    assert [(row["build"], row["arch"]) for row in rows] == [
        (build, arch) for arch in ("sm_75", "sm_120") for build in builds
    ]
    assert link_builds.inlining_table(rows).cells() == [
        [build, *["1 call left" if build in CALLED else "inlined"] * 2] for build in builds
    ]
    assert [line[1] for line in link_builds.table(rows).cells()] == ["sm_75"] * 2 + ["sm_120"] * 2


def bars(rows: list[tables.Row]) -> dict[str, dict[str, str]]:
    """What the figure of these rows shows: for each panel the bars' labels and the texts at their ends."""
    axes = link_builds.figure(rows, "title").axes
    return {
        ax.get_title(loc="left"): dict(
            zip(
                [label.get_text() for label in ax.get_yticklabels()],
                [text.get_text() for text in ax.texts],
                strict=True,
            )
        )
        for ax in axes
    }


def test_the_figure_without_a_gpu(rows: list[tables.Row]) -> None:
    arch = rows[0]["arch"]
    shown = bars(rows)
    assert list(shown) == [
        f"{arch}: {name}" for name in ("registers a thread", "bytes of the cubin", "link, host clock")
    ]
    assert shown[f"{arch}: registers a thread"]["nvcc -rdc=true: 64 calls left"] == str(rows[3]["registers"])
    assert shown[f"{arch}: bytes of the cubin"]["one source: inlined"] == f"{rows[0]['bytes']:,}"
    assert len(shown[f"{arch}: link, host clock"]) == 4, "one source is not linked"
    both = bars([*rows, *({**row, "arch": "sm_80"} for row in rows)])
    assert list(both) == [f"{arch}: registers a thread", "sm_80: registers a thread"]


def test_the_figure_of_a_run_is_the_kernels_time(rows: list[tables.Row]) -> None:
    timed = [{**row, "seconds": {"median": 1e-4 * number}} for number, row in enumerate(rows, 1)]
    timed[2]["error"] = "failed"
    (panel,) = bars(timed).values()
    assert panel == {
        "one source: inlined": "100 µs",
        "PTX, nvJitLink: 64 calls left": "200 µs",
        "nvcc -rdc=true: 64 calls left": "400 µs",
        "nvcc -dlto: inlined": "500 µs",
    }


def test_the_reference_is_64_calls_one_after_another() -> None:
    x = np.random.default_rng(1).random(1009, np.float32)
    value = x.copy()
    for _ in range(64):
        value = np.float32(0.99) * value + np.float32(0.5)
    np.testing.assert_allclose(reference(x), value, rtol=1e-6)


def test_a_build_that_fails_alone_says_so_in_its_row() -> None:
    """Two units may each have a `static` of one name; one source may not."""
    hidden = "static __device__ float hidden(float x) { return x; }\n"
    builds = list(link_builds.BUILDS)[:3]
    rows = link_builds.link_all([hidden + LIBRARY, hidden + DEFINES], entry="k", builds=builds)
    assert "already been defined" in rows[0]["error"]
    assert [row["error"] for row in rows[1:]] == [None] * 2
    assert "already been defined" in str(link_builds.table(rows))
    (problem,) = link_builds.problems(rows)
    assert problem.startswith("one source, sm_90: NVRTC could not compile one_source.cu for sm_90:\n")
    assert problem.count("Advice: ") == 1 and problem.splitlines()[-1].startswith("Advice: keep one definition")


def test_problems_are_failures_and_wrong_answers() -> None:
    rows = [
        {"build": "a", "arch": "sm_90", "error": None, "check": "right"},
        {"build": "b", "arch": "sm_90", "error": None, "check": "element 0 is nan"},
        {"build": "c", "arch": "sm_75", "error": None},
        {"build": "d", "arch": "sm_75", "error": "refused"},
    ]
    assert link_builds.problems(rows) == ["d, sm_75: refused", "b, sm_90: wrong answer: element 0 is nan"]


GPU = toolchain.Gpu("NVIDIA H200", "9.0", "sm_90", 2**37)


@pytest.mark.parametrize(
    ("arch", "library", "why"),
    [
        ("sm_80", LIBRARY, "Not run: code for sm_80 does not run on sm_90."),
        ("sm_100", LIBRARY, "Not run: code for sm_100 does not run on sm_90."),
    ],
)
def test_what_is_not_run_says_why_and_on_which_gpu(
    monkeypatch: pytest.MonkeyPatch, arch: str | None, library: str, why: str
) -> None:
    monkeypatch.setattr(toolchain, "gpus", lambda: [GPU])
    rows = link_builds.link_all([library, DEFINES], "k", [arch] if arch else [], builds=["one source"])
    assert {row["arch"] for row in rows} == {arch or "sm_90"}, "the GPU's own, if none is named"
    assert f"GPU: NVIDIA H200, compute capability 9.0. {why}" in str(link_builds.table(rows))
    assert all("check" not in row for row in rows)


def test_the_table_names_the_reference_that_judges(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain, "gpus", lambda: [GPU])
    monkeypatch.setattr("fourways.link_builds.compare._run", lambda *_: None)
    case, inputs = tmp_path / "mine.py", "def make_inputs(size):\n    return np.ones(size, 'f4')\n"
    for text, judge in ((inputs, "NumPy"), (f"{inputs}\n\ndef reference(x):\n    return x\n", "mine.py")):
        case.write_text(f"import numpy as np\n\n\n{text}")
        (row,) = link_builds.link_all(builds=["one source"], case=case)
        assert row["reference"] == judge


def test_the_gpu_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert link_builds.find_gpu(None) is None
    with pytest.raises(ValueError, match="no CUDA device 0 here; there are: none"):
        link_builds.find_gpu(0)
    other = toolchain.Gpu("NVIDIA L4", "8.9", "sm_89", 2**34)
    monkeypatch.setattr(toolchain, "gpus", lambda: [GPU, other])
    assert [link_builds.find_gpu(device) for device in (None, 0, 1)] == [GPU, GPU, other]
    with pytest.raises(ValueError, match=r"no CUDA device 2 here; there are: 0 \(NVIDIA H200\), 1 \(NVIDIA L4\)"):
        link_builds.find_gpu(2)


def test_a_reference_that_cannot_be_had() -> None:
    with pytest.raises(InputError, match="no file"):
        link_builds.link_all(expected="nowhere.py:f")
