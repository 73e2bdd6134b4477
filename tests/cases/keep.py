import numpy as np

sizes = (1, 100, 1009)


def arguments(size):
    x = np.random.default_rng(1).integers(0, 1000, size).astype(np.int32)
    kept, count = np.full(size, -1, np.int32), np.zeros(1, np.int32)
    return {"x": x, "kept": kept, "count": count, "n": np.int32(size), "limit": np.int32(500)}


def reference(x, kept, count, limit):
    above = x[x > limit]
    return {"kept": np.concatenate([above, kept[above.size :]]), "count": count + above.size}


def same(got, right):
    (count,) = right["count"]
    if got["count"] != count:
        return f"{got['count'][0]} numbers were kept, expected {count}"
    return np.array_equal(np.sort(got["kept"]), np.sort(right["kept"]))
