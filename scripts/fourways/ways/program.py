"""The text of a program that runs one way of a kernel, for `fresh_process`, `timeline` and `profiling`.

Its stages are import, context, inputs, build, load, launch, and a check at the end. The cells stand in it line by line,
with their imports in a stage of their own. An extension module is machine code, so importing it is the stage `load`.
"""

import ast
from collections.abc import Mapping

from fourways.ways import is_host

_LINES = """
plain_module = cupy.RawModule
cupy.RawModule = lambda *code, options=(), **more: plain_module(*code, options=(*options, "-lineinfo"), **more)
"""
_INPUTS = """
way_inputs = make_inputs({size})
right = reference(*way_inputs)


def poisoned():  # all NaN or -1
    answers = list(right.values()) if isinstance(right, dict) else [right]
    outputs = [numpy.frombuffer(b"\\xff" * each.nbytes, each.dtype).reshape(each.shape).copy() for each in answers]
    for output, same in {in_place}.items():
        outputs[output][...] = way_inputs[same]
    return outputs


{arguments}
"""
_ON_HOST = "way_arguments = [*way_inputs, *poisoned()]"
_ON_GPU = """way_arguments = [
    cupy.asarray(each) if isinstance(each, numpy.ndarray) else each for each in (*way_inputs, *poisoned())
]
cupy.cuda.Device().synchronize()"""
_CHECK = """
from fourways import checking

way_outputs = way_arguments[len(way_inputs) :]
if problem := checking.compare_all([checking.fetch(each) for each in way_outputs], right, {rtol}, {atol}):
    raise SystemExit(problem)
"""
_PROFILED = """
from cupyx.profiler import profile

with profile():
    {call}
    {wait}
"""


def text(
    way: str,
    kernel: str,
    setup: str,
    cell: str,
    size: int,
    rtol: float = 0.0,
    atol: float = 0.0,
    in_place: Mapping[int, int] | None = None,
    launches: int = 0,
    reads: bool = False,
    profiled: bool = False,
) -> str:
    """Return a program that calls `<kernel>_<way>`, which `cell` defines, once on arrays of `size` elements.

    `setup` defines `make_inputs` and `reference`. `in_place` has the number of an input by that of the output that
    holds the same before. With `launches`, a stage of that name holds as many more, queued one after another and waited
    for together; with `reads`, each is waited for by reading one element of each output. A program to be `profiled` has
    CuPy compile with source lines, and ends with one more launch, between `cudaProfilerStart` and `cudaProfilerStop`.
    """
    call, on_gpu = f"{kernel}_{way}(*way_arguments)", not is_host(way)
    wait = "cupy.cuda.Device().synchronize()" if on_gpu else ""
    setup_imports, setup_rest = split(setup)
    cell_imports, cell_rest = split(cell)
    arguments = _ON_GPU if on_gpu else _ON_HOST
    check = _CHECK.format(rtol=rtol, atol=atol)
    inputs = _INPUTS.format(size=size, in_place=dict(in_place or {}), arguments=arguments)
    stages = [("import", f"{setup_imports}\nimport numpy")]
    if on_gpu:
        stages[0] = ("import", f"{setup_imports}\nimport numpy\nimport cupy")
        stages.append(("context", "cupy.cuda.runtime.free(0)  # makes one" + (_LINES if profiled else "")))
    stages.append(("load" if way == "pybind11" else "import", cell_imports))
    stages.append(("inputs", f"{setup_rest.rstrip()}\n\n{inputs}"))
    stages += [("build", cell_rest), ("launch", f"{call}\n{wait}"), ("check", check)]
    if launches:
        stages += _series(call, wait, launches, reads)
        stages += [] if in_place else [("check", check)]  # in place, the output was written again and again
    if profiled:
        stages.append(("profiled", _PROFILED.format(call=call, wait=wait)))
    return "\n".join(f"# {name}\n{source.strip()}\n" for name, source in stages)


def _series(call: str, wait: str, launches: int, reads: bool) -> list[tuple[str, str]]:
    """Return the stages that restore the outputs and launch many times; `wait` is empty on the host."""
    put = "output.set(before)" if wait else "output[...] = before"
    read = f"\n    [output.reshape(-1)[:1].{'get' if wait else 'copy'}() for output in way_outputs]" if reads else ""
    restored = f"for output, before in zip(way_outputs, poisoned()):\n    {put}\n{wait}"
    return [("inputs", restored), ("launches", f"for _ in range({launches}):\n    {call}{read}\n{wait}")]


def split(cell: str) -> tuple[str, str]:
    """Return the lines of a cell's imports, and its other lines."""
    nodes = [node for node in ast.parse(cell).body if isinstance(node, ast.Import | ast.ImportFrom)]
    numbers = {number for node in nodes for number in range(node.lineno, (node.end_lineno or 0) + 1)}
    parts: dict[bool, list[str]] = {True: [], False: []}
    for number, line in enumerate(cell.split("\n"), 1):
        parts[number in numbers].append(line)
    return "\n".join(parts[True]), "\n".join(parts[False])
