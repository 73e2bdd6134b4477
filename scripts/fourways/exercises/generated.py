"""The judge of lesson 10: which cells does a formula of pystencils read, and what is each one's share?"""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any


def check_wind(wind: Callable[[Any, Any, int, int], Any]) -> str:
    """Judge `wind(u, v, rows, columns)`: v is 3/4 of the cell and 1/4 of the cell so far up and to the left."""
    import pystencils as ps
    import sympy

    u, v = ps.fields("u, v: float32[2D]")
    for rows, columns in random.sample([(0, 2), (1, 2), (3, 1), (4, 2), (2, 0)], 5):
        try:
            came = wind(u, v, rows, columns)
            terms = sympy.nsimplify(came.rhs).expand().as_coefficients_dict()
            shares = {(cell.field.name, *map(int, cell.offsets)): Fraction(str(part)) for cell, part in terms.items()}
        except Exception as error:
            return f"Not yet: wanted is an assignment of a sum of cells; {type(error).__name__}: {error}"
        right = {("u", 0, 0): Fraction(3, 4), ("u", -rows, -columns): Fraction(1, 4)}
        if came.lhs != v.center() or shares != right:
            told = " + ".join(f"{part} of {name}[{down}, {over}]" for (name, down, over), part in shares.items())
            return f"Not yet: {rows} above and {columns} to the left: {came.lhs} gets {told}."
    return "Right for five distances."
