"""The judges of lesson 04's exercises, and the cache experiment with a compiler that is only a file."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from fourways import checking
from fourways.experiments import transposing

TILED = """
extern "C" __global__ void tiled(const float *a, float *b, long long h, long long w)
{
    __shared__ float tile[TILE][TILE + PAD];
    for (long long y = TILE * blockIdx.y; y < h; y += DOWN)
        for (long long x = TILE * blockIdx.x; x < w; x += RIGHT) {
            FIRST
            for (int i = threadIdx.y; i < TILE; i += blockDim.y)
                tile[i][threadIdx.x] = a[(y + i) * w + x + threadIdx.x];
            SECOND
            for (int i = threadIdx.y; i < TILE; i += blockDim.y)
                b[(x + i) * h + y + threadIdx.x] = COLUMN;
            THIRD
        }
}
"""
BARRIER = "__syncthreads();"


def tiled(
    first: str = "",
    second: str = BARRIER,
    third: str = BARRIER,
    down: str = "TILE * gridDim.y",
    right: str = "TILE * gridDim.x",
    column: str = "tile[threadIdx.x][i]",
) -> str:
    parts = {"FIRST": first, "SECOND": second, "THIRD": third, "DOWN": down, "RIGHT": right, "COLUMN": column}
    text = TILED
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


EACH_DOES_ALL = (
    tiled(down="TILE", right="TILE").replace("TILE * blockIdx.y", "TILE * 0").replace("TILE * blockIdx.x", "TILE * 0")
)

BESIDE_THE_TILE = tiled(column="a[(y + threadIdx.x) * w + x + i] + 0 * tile[threadIdx.x][i]")

NAIVE = r"""
extern "C" __global__ void tiled(const float *a, float *b, long long h, long long w)
{
    __shared__ %s;
    for (long long y = blockIdx.y; y < h; y += gridDim.y) {
        for (long long x = blockIdx.x; x < w; x += gridDim.x) {
            if (threadIdx.x + threadIdx.y == 0) %s;
            __syncthreads();
            if (threadIdx.x == 1 && threadIdx.y == 0) b[x * h + y] = %s;
            __syncthreads();
        }
    }
}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no kernel `tiled`"),
        ("tiled", "no kernel `tiled`"),
        (tiled(down="h"), "nobody wrote it"),
        (tiled(right="w"), "nobody wrote it"),
        (tiled(third=""), "no barrier orders them"),
        (tiled(second=""), "no barrier orders them"),
        (tiled(third="// " + BARRIER), "no barrier orders them"),
        (tiled(column="tile[i][threadIdx.x]"), "it holds another element"),
        (EACH_DOES_ALL, "two blocks write the same element"),
        (EACH_DOES_ALL.replace("{", "{ if (blockIdx.x || blockIdx.y) return;", 1), "does nothing"),
        ("#define MEET __syncthreads(); __syncthreads()\n" + tiled(second="MEET;"), "barrier 1 of 3"),
        (tiled(second="", third="", column="a[(y + threadIdx.x) * w + x + i]"), "no barrier is left"),
        (tiled(second=BARRIER * 2), "barrier 1 of 3"),
        (tiled(column="a[(y + threadIdx.x) * w + x + i]"), "barrier 1 of 2"),
        (BESIDE_THE_TILE, "do not come from the tile"),
        (NAIVE % ("int go[1]", "go[0] = 1", "go[0] != 1 ? 0 : a[y * w + x]"), "do not come from the tile"),
        (NAIVE % ("long long at[2]", "at[0] = y, at[1] = x", "a[at[0] * w + at[1]]"), "do not come from the tile"),
        (tiled(right="0 * w"), "does a loop never end?"),
    ],
)
def test_wrong_kernels_are_told_why(text: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transposing, "_TIMEOUT", 1)
    said = transposing.check_any_grid(text)
    assert said.startswith("Not yet: ") and told in said, said


def test_a_kernel_for_one_grid_is_told_who_wrote_nothing() -> None:
    said = transposing.check_any_grid(tiled(third="", down="h", right="w"))
    assert said == "Not yet: 8 × 12 elements on a grid of 1 × 1 blocks: b[0, 4] is wrong, nobody wrote it."


@pytest.mark.parametrize(
    "text",
    [
        tiled(),
        tiled(first=BARRIER, third=""),
        "#define MEET __syncthreads()\n" + tiled().replace("__syncthreads()", "MEET"),
        tiled().replace("__shared__ float", "__shared__ __align__(16) volatile float"),
        tiled().replace("__shared__", "__shared__ int row[TILE]; __shared__"),
        tiled().replace("__shared__ float", "__shared__ float spare[2],"),
        tiled().replace("tile[TILE]", "tile[TILE + 1]").replace("tile[i]", "tile[i + 1]").replace("x][i]", "x + 1][i]"),
        re.sub("__shared__ (.*);", r"__shared__ struct { \1; } s;", tiled())
        .replace("tile[i]", "s.tile[i]")
        .replace("tile[thr", "s.tile[thr"),
        tiled().replace("__shared__ float", "__shared__ double"),
        'const char *note = "__shared__ memory; x";\n' + tiled(),
        "typedef float Tile[TILE][TILE + PAD];\n" + re.sub("__shared__.*;", "__shared__ Tile tile;", tiled()),
    ],
)
def test_two_barriers_are_right(text: str) -> None:
    assert transposing.check_any_grid(text).startswith("Right on 5 grids, without a race")


@pytest.mark.parametrize("size", checking.SIZES)
def test_pictures_have_about_the_size_and_are_turned(size: int) -> None:
    (picture,) = transposing.picture(size)
    assert picture.dtype == np.uint8 and 0.8 * size <= picture.size <= 1.2 * size + 1
    turned = transposing.turned_right(picture)
    assert turned.shape == picture.shape[::-1] and (picture[:1] == turned[:, -1:].T).all()


def test_the_turned_photograph_is_drawn() -> None:
    def turn(picture: np.ndarray, turned: np.ndarray) -> None:
        turned[...] = transposing.turned_right(picture)

    before, after = (ax.images[0].get_array() for ax in transposing.show(turn).axes)
    assert before.shape == after.shape[::-1] and before.std() > 20
    assert (after == transposing.turned_right(before)).all()


def test_the_cache_table_tells_what_compiled() -> None:
    """The compiler's cache has a file for each text and options, but looks into headers only behind `#include`."""

    def build(text: str, options: list[str], folder: str) -> None:
        seen = Path(folder, "number.h").read_text() if "#include" in text else ""
        key = hashlib.sha256(f"{text} {options} {seen}".encode()).hexdigest()
        Path(folder, key).touch()

    rows = transposing.cached_builds(build, "a kernel").rows
    assert [row["compiled"] for row in rows] == [True, False, True, True, True, False, True, False, False]
    assert all(row["seconds"] >= 0 for row in rows)


def test_attempts_name_the_exception(capsys: pytest.CaptureFixture[str]) -> None:
    transposing.attempt({"fine": lambda: None, "wrong": lambda: int("x")})
    fine, wrong = capsys.readouterr().out.splitlines()
    assert fine == "fine: no error" and wrong.startswith("wrong: ValueError: invalid literal")


def test_a_thread_says_how_it_ended(capsys: pytest.CaptureFixture[str]) -> None:
    transposing.in_a_thread(lambda: None)
    transposing.in_a_thread(lambda: int("x"))
    assert capsys.readouterr().out.splitlines()[0] == "launched"


def test_a_fresh_python_s_output_ends_with_its_exception() -> None:
    assert transposing.run_python("print(1)\nraise ValueError('no')") == "1\nValueError: no"
