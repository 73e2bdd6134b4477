"""A kernel that checks its arguments against its signature at every call, before anything runs on the GPU."""

import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, kernels
from fourways.arguments import limits, named
from fourways.checking.arguments import CuPy, PyCUDA, taker
from fourways.kernels import Parameter, Signature
from fourways.ways import WAYS


def checked(kernel: Any, signature: Signature | str | None = None) -> Callable[..., Any]:
    """`kernel`, called as before: its arguments must fit its signature, and numbers become what C would make of them.

    `kernel` is a `cupy.RawKernel`, which `cupy.RawModule.get_function` returns as well, or a `pycuda.driver.Function`.
    `signature` is one of `building.signatures(path)`, or the text that holds the kernel; without it, CuPy's kernel says
    of which text and with which options it was made. A text is compiled once more here, for the signature alone.

    A call raises TypeError or ValueError, which names kernel and parameter, and launches nothing, for: a wrong number
    of arguments; an array where a number is wanted, or a number where an array is; another dtype; an array of the host
    or of another GPU; an array with gaps, not in C's order, or at an address that is no multiple of its element's size;
    a read-only array for an output; a number that its type cannot hold; a struct of another size. Where NumPy has no
    dtype for what a pointer points to, any array fits. None is NULL.
    The result is a function with the attributes `kernel` and `signature`.

    Raises TypeError for another kind of kernel, ValueError where the signature cannot be had or is another kernel's,
    BuildError for a text that does not compile.
    """
    library = _library(kernel)
    name = getattr(kernel, "name", "")  # a function of PyCUDA does not tell
    if not isinstance(signature, Signature):
        signature = _asked(kernel, name, signature)
    if name and not name.startswith("_Z") and name != signature.entry:
        raise ValueError(f"the signature of {signature.entry} came; that of {name} is wanted")
    launch: Any = _written(kernel, signature, library)
    launch.__name__, launch.__doc__ = signature.entry, str(signature)
    launch.kernel, launch.signature = kernel, signature
    return launch


def _library(kernel: Any) -> CuPy:
    cupy, pycuda = sys.modules.get("cupy"), sys.modules.get("pycuda.driver")
    if cupy and isinstance(kernel, cupy.RawKernel):
        return CuPy()
    if pycuda and isinstance(kernel, pycuda.Function):
        return PyCUDA()
    wanted = "a cupy.RawKernel, which RawModule.get_function returns as well, or a pycuda.driver.Function"
    raise TypeError(f"{named(kernel)} came; {wanted} is wanted")


def _asked(kernel: Any, name: str, text: str | None) -> Signature:
    """The signature of the kernel in a text, by default in its own, by the compiler."""
    text = getattr(kernel, "code", None) if text is None else text
    if text is None:
        raise ValueError("this kernel does not carry its source: give checked() the text, too, or the signature")
    if not isinstance(text, str):
        raise TypeError(f"{named(text)} came; a signature, or the text that holds the kernel, is wanted")
    written = [*kernels.parameters(text)]
    meant = [name] if name else written
    if name.startswith("_Z"):  # mangled, of a function that is no template
        meant = [entry for entry in written if re.match(rf"_Z{len(entry)}{entry}(?!I)", name)]
    if len(meant) != 1:
        words = f"which kernel of the text is it: {', '.join(written)}?" if written else "the text holds no kernel."
        raise ValueError(f"{words} Give checked() the signature, building.signatures(path, [entry])[entry]")
    options: Sequence[str] = ()
    if hasattr(kernel, "backend"):
        import cupy

        headers = Path(cupy.__file__).parent / "_core" / "include"  # CuPy's own, which its kernels may include
        options = (*WAYS[kernel.backend].added_options, *kernel.options, f"-I{headers}")
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        file = Path(folder, "kernel.cu")
        file.write_text(text, encoding="utf-8")
        return building.signatures(file, meant, options)[meant[0]]


def _written(kernel: Any, signature: Signature, library: CuPy) -> Callable[..., Any]:
    """Write the function `launch` for a signature. A loop over the parameters would cost more than the launch.

    On a machine with one GPU that of `scale(const float *x, int n)` for CuPy is

        def launch(grid, block, args, **options):
            if type(args) is not tuple or len(args) != 2:
                args = counted(args)
            (a1, a2,) = args
            if not (type(a1) is ndarray and (a1.dtype is dtype_a1 or a1.dtype == dtype_a1) and a1._c_contiguous
                    and (at := a1.data).device_id == 0 and at.ptr % 4 == 0):
                a1 = take_a1(a1)
            if type(a2) is not type_a2:
                a2 = type_a2(a2) if type(a2) is int and -2147483648 <= a2 <= 2147483647 else take_a2(a2)
            return kernel(grid, block, (a1, a2,), **options)

    `take_a1` is `taker`'s, which says what is wrong, and takes what comes rarely.
    """
    names = [f"a{number}" for number in range(1, len(signature.parameters) + 1)]
    known: dict[str, Any] = {"__name__": __name__, "kernel": kernel, "counted": _counted(signature)}
    known |= {"ndarray": library.ndarray, "device": library.device, "array": np.ndarray}
    tests = [] if library.has_one_gpu else ["here = device()"]
    for number, (name, parameter) in enumerate(zip(names, signature.parameters, strict=True), 1):
        dtype = np.dtype(parameter.dtype or np.void)
        known |= {f"dtype_{name}": dtype, f"type_{name}": dtype.type}
        known |= {f"take_{name}": taker(signature.entry, number, parameter, library)}
        tests += _test(name, parameter, library)
    taken = "".join(f"{name}, " for name in names).rstrip()  # with the last comma always a tuple between parentheses
    head = "grid, block, args"
    call = f"grid, block, ({taken})"
    if isinstance(library, PyCUDA):
        gaps = _gaps(names, signature)
        known |= gaps
        call = ", ".join(each for name in names for each in ([f"gap_{name}"] if f"gap_{name}" in gaps else []) + [name])
        head = "*args"
    body = [
        f"if type(args) is not tuple or len(args) != {len(names)}:",
        "    args = counted(args)",
        f"({taken}) = args",
        *tests,
        f"return kernel({call}, **options)",
    ]
    exec("\n    ".join([f"def launch({head}, **options):", *body]), known)
    return known["launch"]


def _test(name: str, parameter: Parameter, library: CuPy) -> list[str]:
    """The lines that let through what mostly comes for a parameter, and hand all else to `take_NAME`."""
    dtype, otherwise = np.dtype(parameter.dtype or np.void), f"    {name} = take_{name}({name})"
    if parameter.is_pointer:
        fits = f"({name}.dtype is dtype_{name} or {name}.dtype == dtype_{name}) and " if parameter.dtype else ""
        aligned = f" and at.ptr % {dtype.itemsize} == 0" if dtype.itemsize > 1 else ""
        here = f"(at := {name}.data).device_id == {'0' if library.has_one_gpu else 'here'}"
        return [f"if not (type({name}) is ndarray and {fits}{name}._c_contiguous and {here}{aligned}):", otherwise]
    if dtype.kind in "iuf" and dtype != np.float16:
        low, high = limits(dtype)
        made = name if dtype in library.of_python else f"type_{name}({name})"
        usual = f"type({name}) is {type(low).__name__} and {low} <= {name} <= {high}"
        return [f"if type({name}) is not type_{name}:", f"    {name} = {made} if {usual} else take_{name}({name})"]
    if parameter.kind == "struct" and not isinstance(library, PyCUDA):
        size = f"{name}.ndim == 0 and {name}.itemsize == {parameter.size}"
        return [f"if not (type({name}) is array and {size} and not {name}.dtype.hasobject):", otherwise]
    return [otherwise.strip()]


def _gaps(names: Sequence[str], signature: Signature) -> dict[str, np.void]:
    """The bytes between arguments, by `gap_NAME` of the later one: PyCUDA puts a struct right behind what is before."""
    gaps, offset = {}, 0
    for name, parameter in zip(names, signature.parameters, strict=True):
        if gap := -offset % parameter.alignment:
            gaps[f"gap_{name}"] = np.void(bytes(gap))
        offset += gap + parameter.size
    return gaps


def _counted(signature: Signature) -> Callable[[Any], tuple]:
    """Return a function that makes a tuple of a call's arguments, and refuses a wrong number of them."""
    wanted = len(signature.parameters)

    def counted(args: Any) -> tuple:
        if not isinstance(args, tuple | list):
            words = "a tuple of the arguments is wanted: (x,) is a tuple of one, (x) is x itself"
            raise TypeError(f"{signature.entry}: {named(args)} came; {words}")
        if len(args) != wanted:
            came = f"{len(args)} argument{'' if len(args) == 1 else 's'} came"
            raise TypeError(f"{signature.entry}: {came}; {wanted} are wanted, {signature}")
        return tuple(args)

    return counted
