"""Lesson 04's pictures, and its programs in a fresh Python."""

import numpy as np
import pytest

from fourways import checking
from fourways.experiments import transposing


@pytest.mark.parametrize("size", checking.SIZES)
def test_pictures_have_about_the_size_and_are_turned(size: int) -> None:
    (picture,) = transposing.picture(size)
    assert picture.dtype == np.uint8 and 0.8 * size <= picture.size <= 1.2 * size + 1
    turned = transposing.turned_right(picture)
    assert turned.shape == picture.shape[::-1] and (picture[:1] == turned[:, -1:].T).all()


def test_a_fresh_python_s_output_ends_with_its_exception() -> None:
    assert transposing.run_python("print(1)\nraise ValueError('no')") == "1\nValueError: no"
