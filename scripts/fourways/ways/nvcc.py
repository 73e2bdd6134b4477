"""CuPy's `RawModule`, compiled by nvcc."""

from fourways.ways.cupy_module import RawModule
from fourways.ways.way import register


class Nvcc(RawModule):
    """`cupy.RawModule(code=..., backend="nvcc")`."""

    name = "nvcc"
    label = "CuPy with NVCC"
    short = "NVCC"
    colour = "#3A94C9"
    dark_colour = "#9AD4F7"
    needs = ("gpu", "cupy", "nvcc", "host compiler")
    added_options = ("-ftz=true",)  # by CuPy 14


register(Nvcc())
