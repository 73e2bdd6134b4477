"""The tables of "CUDA in one page" say what a compiler says."""

import re
from collections.abc import Iterator

import pytest

from fourways import building, kernels

PAGE = (kernels.root() / "book" / "cuda_in_one_page.md").read_text(encoding="utf-8")
TYPES: tuple[str, ...] = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long long")
TYPES += ("unsigned long long", "float", "double")


def compiles(statement: str, type_: str = "float") -> bool:
    """Return whether NVRTC takes a statement with a pointer `p` to this type."""
    try:
        building.build(f'extern "C" __global__ void kernel({type_} *p) {{ {statement} }}')
    except building.BuildError:
        return False
    return True


def told_types(name: str) -> Iterator[list[str]]:
    """Yield the words in code of each cell after the first, in rows of the table whose first cell holds `name`."""
    for line in PAGE.splitlines():
        first, *cells = line.strip("| ").split(" | ")
        if line.startswith("|") and f"`{name}" in first:
            yield [word for cell in cells for word in re.findall("`([^`]+)`", cell)]


@pytest.mark.parametrize("name", ["atomicAdd", "atomicMin", "atomicMax", "atomicCAS", "__shfl_down_sync"])
def test_functions_exist_for_the_types_of_the_table(name: str) -> None:
    (told,) = told_types(name)
    if name == "__shfl_down_sync":  # takes smaller integers as well: C++ converts them
        assert all(compiles("*p = __shfl_down_sync(0xffffffff, *p, 1);", each) for each in told)
    else:
        statement = f"{name}(p, *p{', *p' if name == 'atomicCAS' else ''});"
        assert {each for each in TYPES if compiles(statement, each)} == {*told}


@pytest.mark.parametrize("word", ["uint8_t", "INT_MAX", "INFINITY", "unsigned char", "__int_as_float(0x7f800000)"])
def test_what_nvrtc_knows_without_headers(word: str) -> None:
    is_known = compiles(f"{word} q; *p = q;" if word in ("uint8_t", "unsigned char") else f"*p = {word};")
    assert is_known == (word not in ("uint8_t", "INT_MAX", "INFINITY")) and f"`{word}`" in PAGE


def test_functions_that_need_no_header() -> None:
    (names,) = re.findall(r"Functions such as (.*?) need no header", PAGE, re.DOTALL)
    for name in re.findall("`([a-z0-9]+)`", names):
        arguments = "p[0]" if name in ("sqrtf", "expf", "logf", "rintf") else "p[0], p[1]"
        assert compiles(f"p[2] = {name}({arguments});"), name
