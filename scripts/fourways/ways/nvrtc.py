"""CuPy's `RawModule`, compiled in the process by NVRTC."""

from fourways.ways.cupy_module import RawModule
from fourways.ways.way import register


class Nvrtc(RawModule):
    """`cupy.RawModule(code=..., backend="nvrtc")`."""

    name = "nvrtc"
    label = "CuPy with NVRTC"
    short = "NVRTC"
    colour = "#005B94"
    dark_colour = "#4AA3DF"
    needs = ("gpu", "cupy")
    loads_cubins = True  # RawModule(path=...)
    takes_templates = True
    added_options = ("-ftz=true", "--device-as-default-execution-space")  # by CuPy 14


register(Nvrtc())
