import numpy as np

WIDTHS = {"a": np.uint8, "b": np.uint16, "c": np.uint32, "d": np.uint64}


def arguments(size):
    given = {}
    for name, kind in WIDTHS.items():  # up to the greatest number, so that sums wrap around
        given[name] = np.random.default_rng(1).integers(0, np.iinfo(kind).max, size, kind, endpoint=True)
        given[f"{name}_y"] = None
        given[f"{name}_more"] = kind(np.iinfo(kind).max - 2)
    return given | {"n": np.uint64(size)}


def reference(**given):
    return {f"{name}_y": given[name] + given[f"{name}_more"] for name in WIDTHS}
