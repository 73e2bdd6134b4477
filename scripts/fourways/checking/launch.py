"""A kernel whose arguments are held to its signature at every call, before anything runs on the GPU."""

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
from fourways.kernels import Signature
from fourways.ways import WAYS

# A call runs a function written for its signature: quick tests for what mostly comes, and `take_…` for all else.
# A loop over the parameters would cost more than the launch.
_LAUNCH = """
def launch({head}, **options):
    if type(args) is not tuple or len(args) != {count}:
        args = counted(args)
    ({names}) = args{asking}{taking}
    return kernel({call}, **options)
"""
_ARRAY = """
    if not (type({a}) is ndarray and {fits}{a}._c_contiguous and (at := {a}.data).device_id == {here}{aligned}):
        {a} = take_{a}({a})"""
_NUMBER = """
    if type({a}) is not type_{a}:
        {a} = {made} if type({a}) is {python} and {low} <= {a} <= {high} else take_{a}({a})"""
_STRUCT = """
    if not (type({a}) is array and {a}.ndim == 0 and {a}.itemsize == {size} and not {a}.dtype.hasobject):
        {a} = take_{a}({a})"""
_OTHER = """
    {a} = take_{a}({a})"""


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
    What is returned is a function; its `kernel` and `signature` are what it was made of.

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
    meant = [name] if name and not name.startswith("_Z") else [entry for entry in written if _may_be(name, entry)]
    if len(meant) != 1:
        words = f"which kernel of the text is it: {', '.join(written)}?" if written else "the text holds no kernel."
        raise ValueError(f"{words} Give checked() the signature, building.signatures(path, [entry])[entry]")
    options: Sequence[str] = ()
    if hasattr(kernel, "backend"):
        import cupy

        headers = Path(cupy.__file__).parent / "_core" / "include"  # CuPy's own, which its kernels may include
        options = (*(WAYS[kernel.backend].recipe or ("", ()))[1], *kernel.options, f"-I{headers}")
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        file = Path(folder, "kernel.cu")
        file.write_text(text, encoding="utf-8")
        return building.signatures(file, meant, options)[meant[0]]


def _may_be(name: str, entry: str) -> bool:
    """Whether a mangled name, or none, may be that of the function `entry`, which is no template."""
    return not name or bool(re.match(rf"_Z{len(entry)}{entry}(?!I)", name))


def _written(kernel: Any, signature: Signature, library: CuPy) -> Callable[..., Any]:
    """The function `launch` for a signature."""
    known = {"__name__": __name__, "kernel": kernel, "counted": _counted(signature)}
    known |= {"ndarray": library.ndarray, "device": library.device, "array": np.ndarray}
    here, asking = ("0", "") if library.has_one_gpu else ("here", "\n    here = device()")
    names = taking = call = ""
    offset = 0
    for number, parameter in enumerate(signature.parameters, 1):
        a, dtype = f"a{number}", np.dtype(parameter.dtype or np.void)
        known |= {f"take_{a}": taker(signature.entry, number, parameter, library)}
        known |= {f"dtype_{a}": dtype, f"type_{a}": dtype.type}
        if parameter.is_pointer:
            fits = f"({a}.dtype is dtype_{a} or {a}.dtype == dtype_{a}) and " if parameter.dtype else ""
            aligned = f" and at.ptr % {dtype.itemsize} == 0" if dtype.itemsize > 1 else ""
            taking += _ARRAY.format(a=a, fits=fits, here=here, aligned=aligned)
        elif dtype.kind in "iuf" and dtype != np.float16:
            low, high = limits(dtype)
            made = a if dtype in library.of_python else f"type_{a}({a})"
            taking += _NUMBER.format(a=a, made=made, python=type(low).__name__, low=low, high=high)
        elif parameter.kind == "struct" and not isinstance(library, PyCUDA):
            taking += _STRUCT.format(a=a, size=parameter.size)
        else:
            taking += _OTHER.format(a=a)
        if (gap := -offset % parameter.alignment) and isinstance(library, PyCUDA):
            known[f"gap_{a}"] = np.void(bytes(gap))  # PyCUDA puts a struct right behind what comes before it
            call += f"gap_{a}, "
        offset += gap + parameter.size
        names, call = f"{names}{a}, ", f"{call}{a}, "
    head, call = ("*args", call) if isinstance(library, PyCUDA) else ("grid, block, args", f"grid, block, ({call})")
    count = len(signature.parameters)
    exec(
        _LAUNCH.format(head=head, count=count, names=names, asking=asking, taking=taking, call=call.rstrip(", ")), known
    )
    return known["launch"]


def _counted(signature: Signature) -> Callable[[Any], tuple]:
    """Who says what is wrong with a call's arguments as a whole, and makes a list of them a tuple."""
    wanted = len(signature.parameters)

    def counted(args: Any) -> tuple:
        if not isinstance(args, tuple | list):
            words = "a tuple of the arguments is wanted: (x,) is a tuple of one, (x) is x itself"
            raise TypeError(f"{signature.entry}: {named(args)} came; {words}")
        if len(args) != wanted:
            came = f"{len(args)} argument{'s' * (len(args) != 1)} came"
            raise TypeError(f"{signature.entry}: {came}; {wanted} are wanted, {signature}")
        return tuple(args)

    return counted
