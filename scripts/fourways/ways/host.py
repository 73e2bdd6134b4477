"""The host way: the kernel's file, unchanged, compiled by a C++ compiler and run on the CPU."""

from fourways.kernels import KernelCase
from fourways.ways.cupy_module import ALLOW
from fourways.ways.way import Way, identifiers, launching_cell, name_expressions, register


class Host(Way):
    """`fourways.host.compile`, on NumPy arrays."""

    name = "host"
    label = "The host way, on the CPU"
    short = "CPU"
    colour = "#6B7280"
    dark_colour = "#9AA3AF"
    needs = ("host compiler",)
    on_host = True
    takes_templates = True

    def cell(self, case: KernelCase) -> str:
        options = tuple(option for option in case.options if option[:2] in ("-D", "-I", "-U"))
        head = f"""from fourways import host

module = host.compile({str(case.path)!r}, {options!r}, timeout={case.timeout}{name_expressions(case)})
kernel = module.get_function({case.entry!r})"""
        given = ", ".join(identifiers(case).values())
        return launching_cell(case, self, head, ALLOW, f"kernel(grid, block, ({given},), shared_mem=shared)")


register(Host())
