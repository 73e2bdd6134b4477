"""Caches of compilers that need a GPU, and first results: cold and warm, in fresh processes."""

from collections.abc import Iterator

from ratios import ratio, table

from fourways import building, kernels, timing, toolchain, ways
from fourways.tables import Row, Table


def tables() -> Iterator[Table]:
    """All tables of this group."""
    yield table(builds(), "Host clock; doublify.")
    yield table(first_results(), "Host clock; the stage `build` of doublify's first result.")


def builds() -> list[Row]:
    """The build found in a cache, beside the build."""
    aims = {"pycuda": "0.5 at most", "cuda.core": "0.2 at most"}
    rows = []
    for row in building.rows(kernels.path("doublify"), archs=[toolchain.gpus()[0].arch]):
        if row["seconds"] and row["cached_seconds"]:
            found, made = row["cached_seconds"]["median"], row["seconds"]["median"]
            rows.append(ratio(f"{row['compiler']}, cached", found, "built", made, aims.get(row["compiler"], "")))
    return rows


def first_results() -> list[Row]:
    """The stage `build` with filled caches, beside empty ones."""
    measured = timing.first_results("01", [way for way in ("nvrtc", "nvcc", "pycuda") if not ways.missing(way)])
    pairs = zip(measured.rows[::2], measured.rows[1::2], strict=True)
    return [
        ratio(f"{cold['way']}, warm", warm["stages"]["build"], "cold", cold["stages"]["build"], "less than 1")
        for cold, warm in pairs
    ]
