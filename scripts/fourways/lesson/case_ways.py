"""The ways of a case as the text of the cells that a lesson would have; and the values that a kernel takes."""

import keyword
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fourways import toolchain
from fourways.kernels import Parameter, Signature

_TAKEN = {"kernel", "launch", "grid", "block", "shared", "module", "cupy", "host", "np", "driver", "packed", "int"}
_NOT_PYCUDAS = ("complex64", "complex128", "bool", "float16")  # it leaves no gap before them, or refuses them
_NUMPY = "\nimport numpy as np"
_PACKED_IMPORTS = f"\nimport cupy{_NUMPY}"
_PACKED = """


def packed(*arguments):
    \"\"\"The arguments' bytes, each where CUDA wants it: PyCUDA leaves no gap before a struct.\"\"\"
    octets = b""
    for value, alignment in zip(arguments, {alignments}, strict=True):
        value = np.uint64(value.data.ptr) if isinstance(value, cupy.ndarray) else value
        octets += bytes(-len(octets) % alignment) + value.tobytes()
    return np.void(octets)"""
_ALLOW = "kernel.max_dynamic_shared_size_bytes = shared"


class Called(Protocol):
    """What of a `lesson.Case` its ways depend on."""

    path: Path
    entry: str
    signature: Signature
    file: Path | None
    has_launch: bool
    options: tuple[str, ...]
    timeout: int
    size: str | None
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    in_place: tuple[str, ...]
    launch_inputs: tuple[str, ...]
    has_shared: bool

    def launch(self, size: int, *inputs: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]: ...


def takes(parameter: Parameter, value: Any) -> Any:
    """The value as the kernel takes it: a C-contiguous NumPy array, a NumPy scalar of the dtype, a struct as `np.void`.

    Raises ValueError, which names the parameter, for what does not fit.
    """
    name, dtype = parameter.name, parameter.dtype
    if parameter.is_pointer:
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{name} is a {type(value).__name__}; {parameter.type} wants a NumPy array")
        numbers, count = parameter.vector or (None, 0)
        if numbers and value.dtype == numbers:
            if value.shape[-1:] != (count,):
                raise ValueError(f"{name} has shape {value.shape}; {parameter.type} wants {count} along the last axis")
        elif value.dtype != dtype if dtype else numbers and value.itemsize != parameter.element_size:
            wanted = dtype or f"{numbers}, {count} along the last axis"
            raise ValueError(f"{name} has dtype {value.dtype}; {parameter.type} wants {wanted}")
        return np.ascontiguousarray(value).reshape(value.shape)
    if not dtype:
        found = np.asarray(value)
        if found.ndim or found.nbytes != parameter.size or found.dtype.kind not in "VS":
            raise ValueError(
                f"{name} has {found.nbytes} bytes; {parameter.type} wants {parameter.size}, as a scalar of a "
                "structured dtype: np.dtype([...], align=True) leaves the gaps that C leaves"
            )
        return found[()]
    found = np.asarray(value)
    if found.ndim or found.dtype.kind not in "biufc":
        raise ValueError(f"{name} is {value!r}; {parameter.type} wants a number")
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore", category=np.exceptions.ComplexWarning):
        number = found.astype(dtype)[()]
    if number != value and (np.dtype(dtype).kind in "biu" or number.dtype.kind != found.dtype.kind == "c"):
        raise ValueError(f"{name} is {value!r}, which {parameter.type} does not hold")
    return number


def identifiers(signature: Signature) -> dict[str, str]:
    """A Python name for each parameter: its own, unless that has a meaning here."""
    return {
        each.name: each.name.replace(" ", "_") + "_" * (keyword.iskeyword(each.name) or each.name in _TAKEN)
        for each in signature.parameters
    }


def launch_text(case: Called) -> str:
    """The text of the `launch` that a cell uses: the default, or one that takes the case's file for a module beside."""
    if not case.has_launch or not case.file:
        return "def launch(size):\n    return (max(1, -(-size // 256)),), (256,), 0  # grid, block, shared bytes\n"
    taken = ", ".join(["size", *(identifiers(case.signature)[name] for name in case.launch_inputs)])
    return f"""import {case.file.stem}


def launch({taken}):
    grid, block, shared = (*{case.file.stem}.launch({taken}), 0)[:3]
    grid, block = (each if isinstance(each, tuple) else (each,) for each in (grid, block))
    return grid, block, shared
"""


def cell(case: Called, way: str) -> str:
    """The text of the cell `way-<way>`: a function `<entry>_<way>(size, *inputs, *outputs)`, the size by its own name.

    It uses `launch`, of the case. Raises ValueError for pybind11, whose way is a package of files.
    """
    if way not in _CELLS:
        raise ValueError(f"{way} has no cell; {', '.join(_CELLS)} have one")
    names = identifiers(case.signature)
    size = names[case.size] if case.size else "_" if "size" in names else "size"
    before = [f"{names[name]}_before" if name in case.in_place else names[name] for name in case.names]
    launched = [before[case.names.index(name)] for name in case.launch_inputs]
    taken = ", ".join([size, *before, *(names[name] for name in case.outputs)])
    head, allow, call = _CELLS[way](case, way)
    inputs = "".join(f", {each}" for each in launched)
    body = [f"grid, block, shared = launch(int({size}){inputs})", call]
    if case.has_shared:
        body[1:1] = ["if shared > 48 * 1024:  # more than a block gets unasked", f"    {allow}"]
    lines = "".join(f"\n    {line}" for line in body)
    return f"{head}\n\n\ndef {function_name(case, way)}({taken}):{lines}\n"


def function_name(case: Called, way: str) -> str:
    """`<entry>_<way>`; of a template's instance without what no name may hold."""
    return f"{''.join(sign if sign.isalnum() else '_' for sign in case.entry)}_{way}"


def _cupy(case: Called, way: str) -> tuple[str, str, str]:
    by_name = identifiers(case.signature)
    structs = [by_name[each.name] for each in case.signature.parameters if each.kind == "struct"]
    # by value CuPy takes an array without dimensions
    given = [f"np.asarray({name})" if name in structs else name for name in by_name.values()]
    options = (f"-I{case.path.parent}", *case.options)
    instance = f", name_expressions=({case.entry!r},)" if "<" in case.entry else ""
    head = f"""from pathlib import Path

import cupy{_NUMPY * bool(structs)}

module = cupy.RawModule(
    code=Path({str(case.path)!r}).read_text(encoding="utf-8"), backend={way!r}, options={options!r}{instance}
)
kernel = module.get_function({case.entry!r})"""
    return head, _ALLOW, f"kernel(grid, block, ({', '.join(given)},), shared_mem=shared)"


def _pycuda(case: Called, way: str) -> tuple[str, str, str]:
    parameters, given = case.signature.parameters, ", ".join(identifiers(case.signature).values())
    packed = any(each.kind == "struct" or (each.kind == "scalar" and each.dtype in _NOT_PYCUDAS) for each in parameters)
    driver = "\nfrom pycuda import driver" if case.has_shared else ""
    folder, options = str(case.path.parent), f", options={list(case.options)!r}" if case.options else ""
    head = f"""from pathlib import Path
{_PACKED_IMPORTS if packed else ""}
import pycuda.autoprimaryctx  # shares CuPy's context{driver}
from pycuda.compiler import SourceModule

module = SourceModule(
    Path({str(case.path)!r}).read_text(encoding="utf-8"), no_extern_c=True, include_dirs=[{folder!r}]{options}
)
kernel = module.get_function({case.entry!r})"""
    if packed:
        head, given = head + _PACKED.format(alignments=[each.alignment for each in parameters]), f"packed({given})"
    shape = "grid=(*grid, 1, 1)[:3], block=(*block, 1, 1)[:3]"
    allow = "kernel.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)"
    return head, allow, f"kernel({given}, {shape}, shared=shared)"


def _host(case: Called, way: str) -> tuple[str, str, str]:
    options = tuple(option for option in case.options if option[:2] in ("-D", "-I", "-U"))
    head = f"""from fourways import host

module = host.compile({str(case.path)!r}, {options!r}, timeout={case.timeout})
kernel = module.get_function({case.entry!r})"""
    given = ", ".join(identifiers(case.signature).values())
    return head, _ALLOW, f"kernel(grid, block, ({given},), shared_mem=shared)"


_CELLS = {"nvrtc": _cupy, "nvcc": _cupy, "pycuda": _pycuda, "host": _host}
"""By way: what stands before the function, what allows a block more shared memory, and the launch."""


def build(case: Called, way: str) -> Callable[..., None]:
    """The function that a way's cell defines. Raises what the compilers raise."""
    toolchain.activate()
    namespace: dict[str, Any] = {"launch": case.launch}
    exec(compile(cell(case, way), f"<{case.path.name}, {way}>", "exec"), namespace)
    return namespace[function_name(case, way)]
