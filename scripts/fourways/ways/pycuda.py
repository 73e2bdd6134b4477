"""PyCUDA's `SourceModule`, compiled by nvcc."""

from fourways.kernels import KernelCase, encoding_of
from fourways.ways.way import Stage, Way, identifiers, launching_cell, loading, nvcc_keeps_lines, register

_LEAVES_NO_GAP = ("complex64", "complex128", "bool", "float16")  # PyCUDA 2026.1 leaves none before them, or refuses
_PACKED_IMPORTS = "\nimport cupy\nimport numpy as np"
_PACKED = """


def packed(*arguments):
    \"\"\"The arguments' bytes, each where CUDA wants it: PyCUDA leaves no gap before a struct.\"\"\"
    octets = b""
    for value, alignment in zip(arguments, {alignments}, strict=True):
        value = np.uint64(value.data.ptr) if isinstance(value, cupy.ndarray) else value
        octets += bytes(-len(octets) % alignment) + value.tobytes()
    return np.void(octets)"""
_ALLOW = "kernel.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)"


class PyCuda(Way):
    """`pycuda.compiler.SourceModule(..., no_extern_c=True)`, on CuPy's context and arrays."""

    name = "pycuda"
    label = "PyCUDA"
    short = "PyCUDA"
    colour = "#B87500"
    dark_colour = "#F0B03C"
    needs = ("gpu", "pycuda", "nvcc", "host compiler")
    has_wheels = False
    has_own_streams = True

    def cell(self, case: KernelCase) -> str:
        parameters, given = case.signature.parameters, ", ".join(identifiers(case).values())
        packed = any(
            each.kind == "struct" or (each.kind == "scalar" and each.dtype in _LEAVES_NO_GAP) for each in parameters
        )
        driver = "\nfrom pycuda import driver" if case.has_shared else ""
        folder, options = str(case.path.parent), f", options={list(case.options)!r}" if case.options else ""
        text = f'Path({str(case.path)!r}).read_text(encoding="{encoding_of(case.path)}")'
        head = f"""from pathlib import Path
{_PACKED_IMPORTS if packed else ""}
import pycuda.autoprimaryctx  # shares CuPy's context{driver}
from pycuda.compiler import SourceModule

module = SourceModule(
    {text}, no_extern_c=True, include_dirs=[{folder!r}]{options}
)
kernel = module.get_function({case.entry!r})"""
        if packed:
            head, given = head + _PACKED.format(alignments=[each.alignment for each in parameters]), f"packed({given})"
        call = f"kernel({given}, grid=(*grid, 1, 1)[:3], block=(*block, 1, 1)[:3], shared=shared)"
        return launching_cell(case, self, head, _ALLOW, call)

    def mark_loads(self, stage: Stage) -> None:
        import pycuda.driver

        pycuda.driver.module_from_buffer = loading(pycuda.driver.module_from_buffer, stage)

    def keep_sources(self) -> None:
        from pycuda import compiler

        nvcc_keeps_lines()
        compile_plain = compiler.compile_plain  # in PyCUDA 2026.1 the third argument keeps the folder
        compiler.compile_plain = lambda source, options, keep, *rest: compile_plain(source, options, True, *rest)


register(PyCuda())
