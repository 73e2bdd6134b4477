"""Launches that hold each argument to the kernel's signature before anything runs: `fourways.checked`."""

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building
from fourways.arguments import named, number
from fourways.kernels import Parameter, Signature


def checked(kernel: Any, text: str | None = None) -> Callable[..., Any]:
    """Return `kernel` as a function that is called as before, and checks and converts its arguments first.

    `kernel` is a `cupy.RawKernel`, which knows its text, or a `pycuda.driver.Function`, whose `text` you give. The text
    is compiled once more here, to ask for the kernel's types. A text for PyCUDA holds no other kernel.
    A call raises TypeError or ValueError, which names kernel and parameter, and launches nothing, for a wrong number of
    arguments, an array that is not on the GPU, has another dtype or gaps, and a number that its type cannot hold.
    Numbers become what C++ would make of them. Structs are handed on as they come.

    Raises TypeError for another kind of kernel, ValueError without a text or for one with several kernels, BuildError
    for one that does not compile.
    """
    import cupy

    if isinstance(kernel, cupy.RawKernel):
        signature = _asked(kernel.code, [kernel.name], kernel.options)

        def launch(grid: Any, block: Any, args: Any, **options: Any) -> Any:
            if not isinstance(args, tuple):
                words = "a tuple of the arguments is wanted: (x,) is a tuple of one, (x) is x itself"
                raise TypeError(f"{signature.entry}: {named(args)} came; {words}")
            return kernel(grid, block, _fitting(signature, args, by_cupy=True), **options)

        return launch
    driver = sys.modules.get("pycuda.driver")
    if not (driver and isinstance(kernel, driver.Function)):
        raise TypeError(f"{named(kernel)} came; a cupy.RawKernel or a pycuda.driver.Function is wanted")
    if text is None:
        raise ValueError("a function of PyCUDA does not carry its text: give checked() the text, too")
    of_text = _asked(text)
    return lambda *args, **options: kernel(*_fitting(of_text, args, by_cupy=False), **options)


def _asked(text: str, entries: Sequence[str] = (), options: Sequence[str] = ()) -> Signature:
    """Return the signature of the kernel in a text, by a compiler."""
    with tempfile.TemporaryDirectory(prefix="fourways-") as folder:
        file = Path(folder, "kernel.cu")
        file.write_text(text, encoding="utf-8")
        told = building.signatures(file, entries, options)
    if len(told) != 1:
        raise ValueError(f"the text holds {', '.join(told)}; give checked() a text with one kernel")
    return next(iter(told.values()))


def _fitting(signature: Signature, values: tuple, by_cupy: bool) -> tuple:
    """Return a call's arguments as the kernel's types want them."""
    wanted = len(signature.parameters)
    if len(values) != wanted:
        came = f"{len(values)} argument{'' if len(values) == 1 else 's'} came"
        raise TypeError(f"{signature.entry}: {came}; {wanted} are wanted, {signature}")
    fitting = []
    for place, (parameter, value) in enumerate(zip(signature.parameters, values, strict=True), 1):
        try:
            if parameter.is_pointer:
                _check_array(parameter, value, by_cupy)
            elif parameter.dtype:
                value = number(np.dtype(parameter.dtype), value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{signature.entry}: argument {place}, {parameter.name}: {error}") from None
        fitting.append(value)
    return tuple(fitting)


def _check_array(parameter: Parameter, value: Any, by_cupy: bool) -> None:
    """Raise TypeError or ValueError unless a value is an array on the GPU that fits a pointer."""
    import cupy

    of_dtype = f" of {parameter.dtype}" if parameter.dtype else ""
    wanted, advice, array = f"a CuPy array{of_dtype}", "cupy.asarray makes one", value
    is_on_gpu = isinstance(value, cupy.ndarray)
    if not by_cupy:
        wanted = f"an array{of_dtype} on the GPU"
        advice = "pycuda.driver.In, Out or InOut, or cupy.asarray, makes one"
        if isinstance(value, sys.modules["pycuda.driver"].ArgumentHandler):  # In, Out or InOut, which copies
            array, is_on_gpu = value.array, True
        is_on_gpu = is_on_gpu or hasattr(value, "gpudata")  # pycuda.gpuarray
    if not is_on_gpu:
        raise TypeError(f"{named(value)} came; {wanted} is wanted ({advice})")
    if parameter.dtype and array.dtype != parameter.dtype:
        raise TypeError(f"an array of {array.dtype} came; {parameter.dtype} is wanted")
    if not array.flags.c_contiguous:
        advice = "cupy.ascontiguousarray makes such an array"
        raise ValueError(f"an array with gaps or in another order came; C order without gaps is wanted ({advice})")
