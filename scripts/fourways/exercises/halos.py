"""The judge of an exchange of halos between strips of a plate."""

import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np


def check_exchange(exchange: Callable[[list[np.ndarray]], None]) -> str:
    """Judge `exchange(strips)`, which fills the halos of 1 to 5 strips in place."""
    for count in random.sample([3, 2, 5, 1], 4):
        cuts = np.cumsum([0, *(random.randrange(2, 6) for _ in range(count))])
        plate = np.random.default_rng().random((cuts[-1], 4), np.float32)
        rows = [slice(a - (a > 0), b + (b < cuts[-1])) for a, b in pairwise(cuts)]
        right = [plate[each] for each in rows]
        given = [each.copy() for each in right]
        for upper, lower in pairwise(given):
            upper[-1], lower[0] = np.random.default_rng().random((2, 4), np.float32)  # of the step before
        strips = [each.copy() for each in given]
        try:
            exchange(list(strips))
        except (IndexError, ValueError) as error:
            return f"Not yet: {count} strips: {type(error).__name__}: {error}"
        for number, (came, before, expected) in enumerate(zip(strips, given, right, strict=True)):
            for row in np.flatnonzero((came != expected).any(axis=1)):
                told = "it did not get a row that the neighbour computed."
                if any((came[row] == other).all() for other in before):
                    told = "it got a row of its own strip; mind the order."
                if (came[row] == before[row]).all():
                    told = "this halo still holds the row of the step before."
                if (before[row] == expected[row]).all():
                    told = "it was right before; only fill halos."
                return f"Not yet: {count} strips: strip {number}, row {row}: {told}"
    return "Right: 1 to 5 strips hold the rows of the whole plate."
