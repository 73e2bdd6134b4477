"""The linked programs on a GPU: right in every build."""

from pathlib import Path

import pytest

from fourways import building, link_builds, tables, toolchain
from fourways.kernels import InputError


@pytest.fixture(scope="module")
def rows() -> list[tables.Row]:
    return link_builds.link_all()


def test_every_build_is_right_and_timed(rows: list[tables.Row]) -> None:
    for row in rows:
        assert (row["error"], row["check"]) == (None, "right"), row["build"]
        assert row["seconds"]["median"] > 0
    note = (
        f"GPU: {rows[0]['gpu']}, compute capability {rows[0]['compute_capability']}. Checked against NumPy, 67,108,864"
    )
    assert note in str(link_builds.table(rows))
    assert link_builds.problems(rows) == []


def test_a_wrong_answer_is_not_timed(tmp_path: Path) -> None:
    (tmp_path / "expected.py").write_text("def wrong(x):\n    return x\n")
    rows = link_builds.link_all(elements=1009, expected=f"{tmp_path / 'expected.py'}:wrong")
    for row in rows:
        assert row["check"].startswith("element 0 is")
        assert row["seconds"] is None
    assert len(link_builds.problems(rows)) == 5


def test_a_reference_that_gives_nan_is_refused(tmp_path: Path) -> None:
    named = f"{tmp_path / 'expected.py'}:nan"
    (tmp_path / "expected.py").write_text("def nan(x):\n    return x * float('nan')\n")
    with pytest.raises(InputError, match=f"^{named}: reference gives NaN .*: NaN is never right$"):
        link_builds.link_all(elements=1009, expected=named)


@pytest.mark.parametrize("elements", [1, 31, 257, 1_000_003])
def test_awkward_sizes(elements: int) -> None:
    assert [row["check"] for row in link_builds.link_all(elements=elements, builds=["LTO-IR, nvJitLink"])] == ["right"]


def test_for_another_gpu_it_is_built_but_not_run() -> None:
    other = "sm_75" if link_builds.link_all(elements=1)[0]["arch"] != "sm_75" else "sm_120"
    rows = link_builds.link_all(archs=[other])
    assert all("check" not in row and row["error"] is None and "does not run" in row["not_run"] for row in rows)


LIBRARY = """extern "C" __device__ float f(float x);
extern "C" __global__ void k(const float* x, float* y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + SHIFT] = f(x[i]);
}
"""
ONES = "#define SHIFT 0\n" + LIBRARY
FUNCTION = 'extern "C" __device__ float f(float x) { return x + 1; }\n'


def test_ones_own_program_is_checked_against_one_source() -> None:
    rows = link_builds.link_all([ONES, FUNCTION], "k", elements=1_000_003)
    assert [row["check"] for row in rows] == ["the others' reference", *["right"] * 4]
    assert {row["reference"] for row in rows} == {"one source"}
    assert all(row["seconds"]["median"] > 0 for row in rows)
    assert "Checked against one source, 1,000,003 elements." in str(link_builds.table(rows))


def test_ones_own_program_and_reference(tmp_path: Path) -> None:
    file = tmp_path / "expected.py"
    file.write_text("def right(x):\n    return x + 1\n\n\ndef wrong(x):\n    return x + 2\n")
    right, wrong = (
        link_builds.link_all([ONES, FUNCTION], "k", (), 1009, None, f"{file}:{n}") for n in ("right", "wrong")
    )
    assert [row["check"] for row in right] == ["right"] * 5
    assert all("1009 of 1009 wrong" in row["check"] and row["seconds"] is None for row in wrong)


def test_nan_is_never_right_not_even_as_the_reference() -> None:
    rows = link_builds.link_all([ONES, FUNCTION.replace("x + 1", "sqrtf(-1 - x)")], "k", elements=1009)
    assert all("element 0 is nan" in row["check"] and row["seconds"] is None for row in rows)


def test_builds_that_disagree_are_found() -> None:
    """`__CUDACC_RTC__` is NVRTC's own macro: what nvcc builds computes something else."""
    other = FUNCTION.replace("x + 1", "x + (sizeof(RTC) - 1)")
    rtc = "#ifdef __CUDACC_RTC__\ntypedef short RTC;\n#else\ntypedef int RTC;\n#endif\n"
    rows = link_builds.link_all([ONES, rtc + other], "k", elements=1009)
    assert [row["check"].startswith("element 0") for row in rows] == [False] * 3 + [True] * 2
    assert [problem.split(",")[0] for problem in link_builds.problems(rows)] == ["nvcc -rdc=true", "nvcc -dlto"]


def test_a_write_outside_y_is_found() -> None:
    rows = link_builds.link_all(["#define SHIFT 1\n" + LIBRARY, FUNCTION], "k", elements=1009)
    assert all(row["check"] != "right" and row["seconds"] is None for row in rows)


WATCHED = """extern "C" __device__ float f(float x);
__device__ int launches, answered;
extern "C" __global__ void k(const float* x, float* y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        ++launches;
    if (i < n && y[i] == f(x[i]))
        answered = 1;
    if (i < n && launches < LAUNCHES)
        y[i] = f(x[i]) - 1000 * answered;
}
"""


@pytest.mark.parametrize(
    ("launches", "said"), [(1_000_000, "right"), (6, "after the last timed call element 0 is nan")]
)
def test_no_sample_is_answered_from_the_one_before_and_the_last_is_judged(
    launches: int, said: str, tmp_path: Path
) -> None:
    """Where an answer once stands in the output, all later ones are wrong; and so they are after so many launches."""
    (tmp_path / "expected.py").write_text("def right(x):\n    return x + 1\n")
    program = [f"#define LAUNCHES {launches}\n{WATCHED}", FUNCTION]
    builds = ["one source", "LTO-IR, nvJitLink"]
    rows = link_builds.link_all(program, "k", (), 1009, None, f"{tmp_path / 'expected.py'}:right", builds)
    assert all(row["check"].startswith(said) and bool(row["seconds"]) == (said == "right") for row in rows)


def test_a_compiled_library_and_its_declared_kernel(tmp_path: Path) -> None:
    """LTO-IR by nvJitLink and nvlink, beside a source that also says how the kernel is called."""
    source, library, expected = (tmp_path / name for name in ("library.cu", "library.ltoir", "expected.py"))
    source.write_text(ONES)
    library.write_bytes(building.build(source, "nvrtc", toolchain.gpus()[0].arch, "ltoir", ["-rdc=true"]).code)
    expected.write_text("def right(x):\n    return x + 1\n")
    declares = 'extern "C" __global__ void k(const float* x, float* y, long long n);\n' + FUNCTION
    builds = ["LTO-IR, nvJitLink", "nvcc -dlto"]
    rows = link_builds.link_all([library, declares], "k", (), 1009, None, f"{expected}:right", builds)
    assert [(row["calls"], row["check"]) for row in rows] == [(0, "right")] * 2


def test_too_many_elements_get_one_clear_message() -> None:
    with pytest.raises(link_builds.LinkingError, match="elements do not fit(.|\n)*Advice: take fewer: --elements"):
        link_builds.link_all(elements=2**44)


def test_another_device() -> None:
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU here")
    assert [row["check"] for row in link_builds.link_all(elements=1_000_003, device=1)] == ["right"] * 5
