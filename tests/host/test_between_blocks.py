"""Races between blocks are found, and what atomics or a fence before a flag order is none."""

import re
from pathlib import Path

import numpy as np
import pytest

from fourways import checking, host, lesson, own_kernel

FILE = Path(__file__).parent / "kernels" / "blocks.cuh"
CASES = sorted(Path(__file__).parents[1].joinpath("cases").glob("*.cu"))
SMALL = [size for size in checking.SIZES if size < 2000]


def kernel(name: str, *options: str) -> host.HostKernel:
    return host.compile(FILE, options, "blocks").get_function(name)


def lines_with(*texts: str) -> list[int]:
    lines = FILE.read_text().splitlines()
    return [number for text in texts for number, line in enumerate(lines, 1) if line.strip() == text]


@pytest.mark.parametrize(
    ("name", "arguments", "texts", "said"),
    [
        ("adds_without_atomics", (np.zeros(1, np.float32),), ["y[0] += 1;"] * 2, "element 0 of y, which has 1"),
        (
            "reads_what_a_neighbour_writes",
            (np.zeros(128, np.float32), np.int32(128)),
            ["y[i] = y[i + 1];"] * 2,
            "element 32 of y, which has 128",
        ),
        ("atomic_and_plain", (np.zeros(2, np.int32),), ["y[0] = 7;", "atomicAdd(&y[0], 1);"], "element 0 of y"),
    ],
)
def test_a_race_is_two_lines_and_two_blocks(name: str, arguments: tuple, texts: list[str], said: str) -> None:
    before = arguments[0].copy()
    with pytest.raises(host.SanitizerError, match=said) as raised:
        kernel(name)((4,), (32,), arguments)
    assert [int(line) for line in re.findall(r"blocks\.cuh:(\d+): ", str(raised.value))] == lines_with(*texts)
    blocks = re.findall(r"of block (\(.*?\))", str(raised.value))
    assert blocks == ["(1, 0, 0)", "(0, 0, 0)"] and ("atomically" in str(raised.value)) == name.startswith("atomic")
    np.testing.assert_array_equal(arguments[0], before)
    if name == "adds_without_atomics":  # one block cannot race with itself
        kernel(name)((1,), (32,), arguments)
        assert arguments[0][0] == 1


def test_blocks_of_a_grid_in_three_dimensions_are_told_apart() -> None:
    with pytest.raises(host.SanitizerError, match=r"of block \(0, 1, 0\)"):
        kernel("adds_without_atomics")((1, 2, 2), (8, 2, 2), (np.zeros(1, np.float32),))


def test_elements_beside_each_other_are_not_one() -> None:
    y = np.zeros(100, np.uint8)
    kernel("each_its_own")((34,), (3,), (np.ones(100, np.float32), y, np.int32(100)))
    assert (y == 100).all()


@pytest.mark.parametrize("sanitize", ["blocks", "thread"])
def test_no_atomic_races_with_another(sanitize: str) -> None:
    y = np.array([2**32 - 1] + [0] * 8, np.uint32)
    host.compile(FILE, sanitize=sanitize).get_function("every_atomic")((4,), (32,), (y,))
    assert y.tolist() == [0, 2**32 - 1, 0, 128 - 100, 200 - 128, *[32] * 4]


def test_a_fence_before_an_atomic_orders_blocks() -> None:
    x, parts, y = np.ones(1000, np.float32), np.zeros(16, np.float32), np.zeros(1, np.float32)
    for _ in range(2):
        kernel("sum_by_the_last_block")((16,), (64,), (x, parts, y, np.int32(1000)))
        assert y[0] == 1000
    with pytest.raises(host.SanitizerError, match="of parts, which has 16"):
        kernel("sum_by_the_last_block", "-DFENCE=")((16,), (64,), (x, parts, y, np.int32(1000)))


def test_a_fence_before_a_volatile_flag_orders_blocks() -> None:
    sums = np.zeros(9, np.float32)
    kernel("hand_on")((9,), (32,), (sums, np.zeros(9, np.int32)))
    np.testing.assert_array_equal(sums, np.arange(1, 10))
    with pytest.raises(host.SanitizerError, match="of sums, which has 9"):
        kernel("hand_on", "-DFENCE=")((9,), (32,), (sums, np.zeros(9, np.int32)))


def test_what_leaves_its_arrays_is_said_in_the_words_of_a_plain_launch() -> None:
    """In a search for races between blocks, too: ThreadSanitizer alone corrupts memory and hangs."""
    planted = host.compile(FILE.with_name("planted.cuh"), sanitize="blocks").get_function("writes_past_dynamic_shared")
    with pytest.raises(host.KernelError, match=r"writes byte 128 of its dynamic shared memory, which has"):
        planted((1,), (32,), (np.zeros(32, np.float32), np.int32(1)), shared_mem=32 * 4)


OF_KERNELS = {each.meta["kernel"]: each for each in reversed(lesson.all_lessons()) if "kernel" in each.meta}
"""By kernel, the first lesson that launches it."""


@pytest.mark.long
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases_have_no_race_between_blocks(path: Path) -> None:
    if path.stem == "mark":
        pytest.skip("its blocks write the same value")
    with host.sanitizing("blocks"):
        ways = own_kernel.read(path, path.with_suffix(".py")).ways(["host"])
        rows = checking.check(ways, [size for size in ways.sizes if size < 2000] or SMALL).rows
    assert [row["outcome"] for row in rows if row["way"] == "host"] == ["right"]


@pytest.mark.long
@pytest.mark.parametrize("found", OF_KERNELS.values(), ids=OF_KERNELS)
def test_lessons_have_no_race_between_blocks(found: lesson.Lesson) -> None:
    with host.sanitizing("blocks"):
        rows = checking.check(lesson.load(found, ["host"]).only(["host"]), SMALL).rows
    assert [row["outcome"] for row in rows] == ["right"]


@pytest.mark.parametrize(("by", "said"), [(0, "Both wrote the same value"), (1, "Blocks run in any order, or at once")])
def test_writes_of_one_value_are_told_from_others(by: int, said: str) -> None:
    with pytest.raises(host.SanitizerError, match=r"at element 0 of y, which has 2(?s:.*)" + said) as raised:
        kernel("written_twice")((4,), (1,), (np.zeros(2, np.int32), np.int32(by)))
    assert [int(line) for line in re.findall(r"blocks\.cuh:(\d+): ", str(raised.value))] == lines_with(
        *["y[blockIdx.x / 2] = 7 + by * blockIdx.x;"] * 2
    )
