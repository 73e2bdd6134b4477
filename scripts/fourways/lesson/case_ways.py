"""The ways of a case as the text of the cells that a lesson would have; and the values that a kernel takes."""

import keyword
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fourways import toolchain
from fourways.building import Parameter, Signature

_TAKEN = {"kernel", "launch", "grid", "block", "shared", "module", "cupy", "host", "np", "driver"}
_UNALIGNED = ("struct", "complex64", "complex128")  # what PyCUDA packs without the gaps that CUDA wants before it
_SHAPE_OF_THREE = "grid=(*grid, 1, 1)[:3], block=(*block, 1, 1)[:3]"
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
_PLAIN_SHARED = 48 * 1024  # bytes; a kernel that wants more must be told


class Called(Protocol):
    """What of a `lesson.Case` its ways depend on."""

    path: Path
    entry: str
    signature: Signature
    options: tuple[str, ...]
    timeout: int
    probe: int
    size: str | None
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    in_place: tuple[str, ...]
    launch: Callable[[int], tuple[tuple[int, ...], tuple[int, ...], int]]


def takes(parameter: Parameter, value: Any) -> Any:
    """The value as the kernel takes it: a C-contiguous NumPy array, a NumPy scalar of the dtype, a struct as `np.void`.

    Raises ValueError, which names the parameter, for what does not fit.
    """
    name, kind, dtype = parameter.name, parameter.kind, parameter.dtype
    if kind in ("input", "output"):
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{name} is a {type(value).__name__}; {parameter.type} wants a NumPy array")
        if dtype and value.dtype != dtype:
            raise ValueError(f"{name} has dtype {value.dtype}; {parameter.type} wants {dtype}")
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
    with np.errstate(over="ignore"):
        number = found.astype(dtype)[()]
    if np.dtype(dtype).kind in "biu" and number != value:
        raise ValueError(f"{name} is {value!r}, which {parameter.type} does not hold")
    return number


def identifiers(signature: Signature) -> dict[str, str]:
    """A Python name for each parameter: its own, unless that has a meaning here."""
    return {
        each.name: each.name.replace(" ", "_") + "_" * (keyword.iskeyword(each.name) or each.name in _TAKEN)
        for each in signature.parameters
    }


def cell(case: Called, way: str) -> str:
    """The text of the cell `way-<way>`: a function `<entry>_<way>(size, *inputs, *outputs)`, the size by its own name.

    It uses `launch`, of the case. Raises ValueError for pybind11, whose way is a package of files.
    """
    names = identifiers(case.signature)
    size = names[case.size] if case.size else "size"
    before = [f"{names[name]}_before" if name in case.in_place else names[name] for name in case.names]
    taken = ", ".join([size, *before, *(names[name] for name in case.outputs)])
    given = ", ".join(names.values())
    folder = str(case.path.parent)
    head, call = {"nvrtc": _cupy, "nvcc": _cupy, "pycuda": _pycuda, "host": _host}[way](case, way, folder, given)
    many = case.launch(case.probe)[2] > _PLAIN_SHARED
    more = {"pycuda": "kernel.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)"}
    allow = [more.get(way, "kernel.max_dynamic_shared_size_bytes = shared")] if many else []
    body = "\n    ".join([f"grid, block, shared = launch(int({size}))", *allow, call])
    return f"{head}\n\n\ndef {function_name(case, way)}({taken}):\n    {body}\n"


def function_name(case: Called, way: str) -> str:
    """`<entry>_<way>`; of a template's instance without what no name may hold."""
    return f"{''.join(sign if sign.isalnum() else '_' for sign in case.entry)}_{way}"


def _cupy(case: Called, way: str, folder: str, given: str) -> tuple[str, str]:
    structs = [
        name for name, each in zip(given.split(", "), case.signature.parameters, strict=True) if each.kind == "struct"
    ]
    for name in structs:  # by value CuPy takes an array without dimensions
        given = re.sub(rf"\b{name}\b", f"np.asarray({name})", given)
    options = (f"-I{folder}", *case.options)
    instance = f", name_expressions=({case.entry!r},)" if "<" in case.entry else ""
    head = f"""from pathlib import Path

import cupy{_NUMPY * bool(structs)}

module = cupy.RawModule(
    code=Path({str(case.path)!r}).read_text(encoding="utf-8"), backend={way!r}, options={options!r}{instance}
)
kernel = module.get_function({case.entry!r})"""
    return head, f"kernel(grid, block, ({given},), shared_mem=shared)"


def _pycuda(case: Called, way: str, folder: str, given: str) -> tuple[str, str]:
    by_value = [each for each in case.signature.parameters if each.kind in ("scalar", "struct")]
    packed = any(each.kind == "struct" or each.dtype in _UNALIGNED for each in by_value)
    options = f", options={list(case.options)!r}" if case.options else ""
    head = f"""from pathlib import Path
{_PACKED_IMPORTS if packed else ""}
import pycuda.autoprimaryctx  # shares CuPy's context
from pycuda import driver
from pycuda.compiler import SourceModule

module = SourceModule(
    Path({str(case.path)!r}).read_text(encoding="utf-8"), no_extern_c=True, include_dirs=[{folder!r}]{options}
)
kernel = module.get_function({case.entry!r})"""
    if packed:
        head += _PACKED.format(alignments=[each.alignment for each in case.signature.parameters])
    return head, f"kernel({f'packed({given})' if packed else given}, {_SHAPE_OF_THREE}, shared=shared)"


def _host(case: Called, way: str, folder: str, given: str) -> tuple[str, str]:
    options = tuple(option for option in case.options if option[:2] in ("-D", "-I", "-U"))
    head = f"""from fourways import host

module = host.compile({str(case.path)!r}, {options!r}, timeout={case.timeout})
kernel = module.get_function({case.entry!r})"""
    return head, f"kernel(grid, block, ({given},), shared_mem=shared)"


def build(case: Called, way: str) -> Callable[..., None]:
    """The function that a way's cell defines. Raises what the compilers raise."""
    if way == "pybind11":
        from fourways import package

        return package.binding(case)
    toolchain.activate()
    namespace: dict[str, Any] = {"launch": case.launch}
    exec(compile(cell(case, way), f"<{case.path.name}, {way}>", "exec"), namespace)
    return namespace[function_name(case, way)]
