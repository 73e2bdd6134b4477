"""The page on textures, without a GPU: its C++ text, and the turned picture in NumPy."""

from typing import Any

import numpy as np
import pytest

from fourways import building, lesson
from fourways.experiments import textures


def texts() -> dict[str, str]:
    """Return the texts of the page's cells by name, as far as they need no GPU."""
    names: dict[str, Any] = {}
    for cell in lesson.find("textures").notebook.cells:
        if cell.cell_type == "code" and not {"gpu", "exercise", "solution"} & set(lesson.tags(cell)):
            exec(cell.source.partition("sums.refusals")[0], names)
    return names


def test_a_turned_picture_is_itself_or_interpolated() -> None:
    picture = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (textures.turned(picture, 0) == picture).all()
    upside_down = textures.turned(picture, 180)[1:, 1:]  # about the corner in the middle, so one row and column are off
    np.testing.assert_allclose(upside_down, picture[::-1, ::-1][:-1, :-1], atol=1e-12)
    ramp = np.tile(np.arange(64, dtype=np.float32), (64, 1))
    middle = textures.turned(ramp, 30)[22:42, 22:42]
    y, x = np.mgrid[22:42, 22:42] - 32
    np.testing.assert_allclose(middle, 32 + np.cos(np.pi / 6) * x - np.sin(np.pi / 6) * y, atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("compiler", building.COMPILERS)
def test_the_page_s_kernels_compile(compiler: str) -> None:
    names = texts()
    kernels = building.build(names["text"] + names["by_hand"], compiler).resources
    assert set(kernels) == {"turn", "turn_by_hand"}
    for add, divide in ((1, 1), (1, 0), (0, 1)):
        options = (f"-DADD={add}", f"-DDIVIDE={divide}")
        assert set(building.build(names["cooperative"], compiler, options=options).resources) == {"shares"}


@pytest.mark.long
def test_the_page_s_class_becomes_a_module() -> None:
    names = texts()
    module = textures.build(names["owner"], names["text"])
    assert callable(module.Texture.turn)
