"""A user's kernel, outside any lesson, with any signature: its inputs, its reference, its launch, its ways.

The compiler tells the signature. The rest stands in a *case*, a small Python file beside the kernel:

    def make_inputs(size): ...        # a tuple: the kernel's arguments in their order, without outputs and the size
    def reference(*inputs): ...       # the output, or a tuple of the outputs, as NumPy arrays; inputs are read-only

and, where the default does not fit:

    def launch(size): ...             # grid, block (int or tuple), and, if any, bytes of dynamic shared memory;
                                      # launch(size, x, k) also takes the inputs x and k: of an array its x.shape
    options = ("-DTAPS=8",)           # for the compilers; the host way takes -D, -I and -U of them
    rtol, atol = 1e-6, 1e-7           # an answer may differ by atol + rtol * abs(right); default 1e-5 and 0
    sizes = (1, 33, 1000)             # what to check at, in place of `checking.SIZES`
    size = "n"                        # the parameter that takes the size, where it is not clear
    outputs = ("y",)                  # where a pointer that is not to const is only read
    in_place = ("u",)                 # outputs that are read, too: make_inputs gives what they hold before

An input is a pointer to const, an output any other pointer. A pointer to one of CUDA's vector types takes an array of
numbers, those of an element along the last axis: `float4 *` an array of float32 of shape (size, 4). Without a reference
the host way judges.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways import building, host, kernels
from fourways.building import BuildError
from fourways.case.file import CaseError, CaseFile
from fourways.case.roles import Roles, count, roles, taken, wants
from fourways.case.skeleton import skeleton
from fourways.case.structs import struct
from fourways.kernels import Signature
from fourways.ways import WAYS, Ways, missing

THREADS = 256
_PROBE = 5  # the size of a case's first calls, unless it has sizes of its own
_UNJUDGED = "Checked against the host way: a mistake in the kernel's idea goes unseen; write a reference into a case."
_JUDGE = "which says what is right where no reference does"
_NO_TEMPLATES = (
    'it finds no template by name; write an extern "C" kernel that calls a template as a __device__ function'
)

Shape = tuple[tuple[int, ...], tuple[int, ...], int]


class Case:
    """A kernel in a file with what a case tells of it: `Case.load` reads both.

    `entry`, `signature`, `source` and `options` are the kernel's; `file` is the case's, or None. `names` (the inputs),
    `outputs` and `in_place` are names of parameters in the kernel's order; `size` is that of the size, or None.
    `has_launch` says whether the case has a launch of its own, `launch_inputs` names the inputs that it takes.
    `compared_with` is a sentence for people.
    """

    rtol = 1e-5  # float32 rounds, and compilers may contract a product and a sum into one rounding

    def __init__(
        self, path: Path, signature: Signature, given: CaseFile, options: tuple[str, ...], timeout: int, named: Roles
    ) -> None:
        self.path, self.source, self.file = path, path.read_text(encoding="utf-8"), given.file
        self.signature, self.entry = signature, signature.entry
        self.options, self.timeout = options, timeout
        self.size, self.names, self.outputs, self.in_place = named
        self.rtol, self.atol = given.tolerance("rtol", Case.rtol), given.tolerance("atol", 0.0)
        self.sizes, self.has_launch = given.several(int, "sizes"), "launch" in given
        self._given, self._refuse = given, given.refuse
        self._taken = functools.partial(taken, signature, given)
        self._parameters = {parameter.name: parameter for parameter in signature.parameters}
        self._shapes: dict[tuple, Shape] = {}
        self.launch_inputs = tuple(self._launch_input(name) for name in given.required("launch")[1:])
        self.compared_with = f"Checked against {given.judge}." if self.has_reference else _UNJUDGED

    @classmethod
    def load(
        cls,
        path: Path | str,
        entry: str | None = None,
        case: Path | str | None = None,
        reference: str | None = None,
        timeout: int = 60,
        signature: Signature | None = None,
    ) -> "Case":
        """Read the kernel `entry` of a file (default: the only one there) with the case in the file `case`.

        The file `case` is executed, and its functions are called once, at a small size. Without a file the case is
        `skeleton`'s: random inputs of `size` elements, and the host way judges. `reference`, as
        `"expected.py:function"`, takes the place of the case's. `timeout` is the host way's, in seconds. With a
        `signature` no compiler is asked, and the kernel may stand in a header.
        Raises InputError for a file that is not there, CaseError for such an entry and for a case that does not fit the
        signature or cannot be run, BuildError for a kernel that no compiler takes.
        """
        kernel = kernels.user_file(str(path)).resolve()
        name = signature.entry if signature else _entry(kernel, entry)
        file = Path(case).resolve() if case else None
        given = CaseFile(file, file.name if file else kernel.name)
        options = tuple(  # with absolute folders, because compilers run in several folders
            f"-I{kernel.parent / option[2:]}" if option.startswith("-I") else option
            for option in given.several(str, "options")
        )
        signature = signature or building.signatures(kernel, [name] if entry else (), options)[name]
        if not file:
            text = skeleton(signature, kernel.read_text(encoding="utf-8"))
            given = CaseFile(None, reference or kernel.name, text)
        if reference:
            given.refer_to(reference)
        loaded = cls(kernel, signature, given, options, timeout, roles(signature, given, _probe(given)))
        loaded.launch_of(loaded.make_inputs(loaded.probe))  # report an impossible launch now
        return loaded

    @property
    def probe(self) -> int:
        """A small size that the case can do."""
        return _probe(self._given)

    @functools.cached_property
    def has_shared(self) -> bool:
        """Whether it asks for dynamic shared memory."""
        return self.launch_of(self.make_inputs(self.probe))[2] > 0

    def make_inputs(self, size: int) -> tuple:
        """The size, and the case's inputs: NumPy arrays, and scalars of the kernel's dtypes; a struct is a `np.void`.

        Raises CaseError where the case fails, or gives values or a launch that do not fit.
        """
        first = self._taken(self._parameters[self.size], size) if self.size else np.int64(size)
        values = self._given.called("make_inputs", size)
        if len(values) != len(self.names):
            self._refuse(f"make_inputs({size}) gives {len(values)} values, and gave {len(self.names)} before")
        inputs = first, *map(self._taken, map(self._parameters.__getitem__, self.names), values)
        self.launch_of(inputs)  # report a wrong launch once, not by every way
        return inputs

    def reference(self, size: int, *inputs: Any) -> dict[str, np.ndarray]:
        """The right outputs by name, in the kernel's order, of its dtypes.

        `size` and `inputs` are those of `make_inputs`. Raises CaseError where the reference fails or gives something
        else than the signature wants, or NaN; BuildError where only the host way could say it, and it cannot.
        """
        if not self.has_reference:
            return self._by_host(size, *inputs)
        arrays = self._given.called("reference", *map(_read_only, inputs))
        if len(arrays) != len(self.outputs):
            self._refuse(f"reference gives {count(arrays, 'array')}; {wants(self.signature, self.outputs)}")
        return {name: self._right(name, array, inputs) for name, array in zip(self.outputs, arrays, strict=True)}

    @property
    def has_reference(self) -> bool:
        """Whether the case or the user gives a reference, so that the host way need not judge."""
        return "reference" in self._given

    def blank_outputs(self, size: int, *inputs: Any) -> dict[str, np.ndarray]:
        """Outputs where nothing tells their shapes: `size` elements of the kernel's dtypes, NaN or -1; or their inputs.

        Raises CaseError for an output whose elements have no known size.
        """
        blank = {}
        for name in self.outputs:
            if name in self.in_place:
                blank[name] = np.array(inputs[self.names.index(name)])
                continue
            parameter = self._parameters[name]
            dtype, count = (parameter.dtype, 1) if parameter.dtype else parameter.vector or (None, 1)
            element = np.dtype(dtype) if dtype else struct(parameter, self.source)
            if not element:
                self._refuse(f"without a reference nothing tells what {name} holds: {parameter.why}")
            blank[name] = np.full(int(size) * count * element.itemsize, 255, np.uint8).view(element)
            if not parameter.dtype and dtype:
                blank[name] = blank[name].reshape(-1, count)
        return blank

    def arguments(self, values: Sequence[Any]) -> tuple:
        """Return the kernel's arguments in its order, for CuPy, from `(*make_inputs(size), *outputs)`."""
        names = [self.size, *(None if name in self.in_place else name for name in self.names), *self.outputs]
        by_name = dict(zip(names, values, strict=True))
        taken = (by_name[parameter.name] for parameter in self.signature.parameters)
        return tuple(np.asarray(value) if isinstance(value, np.void) else value for value in taken)

    def launch(self, size: int, *inputs: Any) -> Shape:
        """Grid, block and bytes of dynamic shared memory for a size: the case's, or an element a thread.

        `inputs` are those named in `launch_inputs`, arrays of any library. Raises CaseError for an impossible launch.
        """
        key: tuple = (size,)
        if self.launch_inputs:
            pairs = zip(self.launch_inputs, inputs, strict=True)
            key += tuple(value.shape if self._parameters[name].is_pointer else value.item() for name, value in pairs)
        if key not in self._shapes:  # kept, because every timed launch asks for it
            self._shapes[key] = self._shape(*key)
        return self._shapes[key]

    def launch_of(self, inputs: Sequence[Any]) -> Shape:
        """Return `launch` for the values of `make_inputs`, which other values may follow."""
        return self.launch(int(inputs[0]), *(inputs[1 + self.names.index(name)] for name in self.launch_inputs))

    def function(self, way: str) -> Callable[..., None]:
        """The kernel as a function of `(*make_inputs(size), *outputs)`, compiled, by one way.

        Raises BuildError in the compiler's own words.
        """
        try:
            return WAYS[way].function(self)
        except BuildError:
            raise
        except Exception as error:  # CuPy's and PyCUDA's compilers have exceptions of their own
            judge = f", {_JUDGE}," if WAYS[way].on_host and not self.has_reference else ""
            refused = f"{way}{judge} refused {self.path.name}"
            if isinstance(error, OSError):  # has its own advice, unlike a compiler's words
                raise BuildError(f"{refused}:\n{error}") from None
            raise BuildError(refused, str(error)) from None

    def ways(self, chosen: Sequence[str] = (), tell: Callable[[str], Any] = lambda _: None) -> Ways:
        """Compile the ways that can run here, of those `chosen` or all, and return them. `tell` gets the name of each.

        Raises BuildError in the words of the first compiler that refuses. With a reference, a host way that is refused
        is only `missing`: the others can still be checked.
        """
        lacks = {name: why for name in WAYS if (why := missing(name, of_case=True))}
        if "<" in self.entry:
            lacks |= {name: _NO_TEMPLATES for name, way in WAYS.items() if not way.takes_templates} | lacks
        functions: dict[str, Callable[..., None]] = {}
        for way in [each for each in chosen or WAYS if each not in lacks]:
            try:
                tell(f"{self.entry}, {way}")
                functions[way] = self.function(way)
            except BuildError as error:
                if not WAYS[way].on_host or not self.has_reference:
                    raise
                lacks[way] = str(error)
        return Ways(
            self.entry,
            self.make_inputs,
            self.reference,
            functions,
            lacks,
            self.rtol,
            self.sizes,
            self.starts,
            self.atol,
        )

    @property
    def starts(self) -> Mapping[int, int]:
        """Map each output in place to the input with its initial contents, both by number, for `Ways.in_place`."""
        return {self.outputs.index(name): 1 + self.names.index(name) for name in self.in_place}

    def _right(self, name: str, array: Any, inputs: tuple) -> np.ndarray:
        """An output of the reference in the kernel's dtype."""
        right, parameter = np.asarray(array), self._parameters[name]
        dtype = parameter.dtype
        is_pairs = right.ndim > 1 and right.shape[-1] == 2  # pairs of real numbers, in place of complex numbers
        if parameter.vector and right.dtype.kind in "biuf" and (is_pairs or not dtype):
            dtype, count = parameter.vector  # the numbers of an element along the last axis
            if right.shape[-1:] != (count,):
                self._refuse(f"reference gives shape {right.shape} for {name}; {parameter.type} wants {count} last")
        if dtype and not np.can_cast(right.dtype, dtype, "same_kind"):
            self._refuse(f"reference gives {right.dtype} for {name}; {parameter.type} wants {dtype}")
        if name in self.in_place and right.shape != (shape := inputs[self.names.index(name)].shape):
            self._refuse(f"reference gives shape {right.shape} for {name}, whose values before have {shape}")
        with np.errstate(over="ignore"):  # a number too large for the dtype is infinite in it
            taken = np.ascontiguousarray(right, dtype).reshape(right.shape)
        if taken.dtype.kind in "iu" and (place := _first(taken != right)) is not None:
            self._refuse(f"reference gives {right.flat[place]} for {name}, at element {place}: no {dtype} holds it")
        if (place := _first_nan(taken)) is not None:
            self._refuse(f"reference gives NaN for {name}, at element {place}: NaN is never right")
        return taken

    def _by_host(self, size: int, *inputs: Any) -> dict[str, np.ndarray]:
        outputs = self.blank_outputs(size, *inputs)
        try:
            self._on_host(size, *inputs, *outputs.values())
        except (TypeError, ValueError) as error:
            self._refuse(f"the host way, {_JUDGE}: {error}")
        for name, array in outputs.items():
            if (nan := _first_nan(array)) is not None:
                hint = f'does the kernel read it? in_place = "{name}"; does it write all? if not, write a reference'
                self._refuse(f"the host way leaves NaN in {name}, at element {nan}: {hint}")
        return outputs

    @functools.cached_property
    def _on_host(self) -> Callable[..., None]:
        return self.function("host")

    def _launch_input(self, written: str) -> str:
        """The input that launch() names; one called like a keyword of Python has _ after it."""
        name = written if written in self.names else written.removesuffix("_")
        if name not in self.names:
            self._refuse(f"launch takes {written}, which is none of the inputs: {', '.join(self.names) or 'none'}")
        if (kind := self._parameters[name].kind) == "struct":
            self._refuse(f"launch takes {name}, a {kind}; it can take whole and real numbers, and arrays")
        return name

    def _shape(self, size: int, *inputs: Any) -> Shape:
        if not self.has_launch:
            return (max(1, -(-size // THREADS)),), (THREADS,), 0
        seen = (SimpleNamespace(shape=each) if isinstance(each, tuple) else each for each in inputs)
        shape = self._given.called("launch", size, *seen)
        if len(shape) not in (2, 3):
            self._refuse(f"launch({size}) gives {count(shape, 'value')}; wanted grid, block and, if any, shared bytes")
        for name, each in zip(("grid", "block"), shape, strict=False):
            if not isinstance(each, tuple | int | np.integer):
                self._refuse(f"launch({size}): {name} is {each!r}; wanted an int, or a tuple of one to three")
        grid, block = (each if isinstance(each, tuple) else (each,) for each in shape[:2])
        shared = shape[2] if len(shape) == 3 else 0
        try:
            host.check_shape(grid, block, shared)
        except (TypeError, ValueError) as error:
            self._refuse(f"launch({size}): {error}")
        return tuple(map(int, grid)), tuple(map(int, block)), int(shared)


def _probe(given: CaseFile) -> int:
    """A small size that the case can do."""
    return next((size for size in given.several(int, "sizes") if size), _PROBE)


def signature_of(path: Path, entry: str | None = None) -> Signature:
    """The signature of the kernel `entry` of a file, or of the only one there. Raises CaseError, BuildError."""
    name = _entry(path, entry)
    return building.signatures(path, [name] if entry else ())[name]


def _entry(path: Path, entry: str | None) -> str:
    """The kernel meant in a file."""
    there = kernels.parameters(path.read_text(encoding="utf-8"))
    if not there:
        raise CaseError(f"{path.name} holds no kernel: no `__global__ void` function")
    name = entry or (next(iter(there)) if len(there) == 1 else "")
    if name.partition("<")[0].strip() not in there:
        problem = f"no kernel {entry!r} in" if entry else "--entry must name the kernel to take from"
        raise CaseError(f"{problem} {path.name}; there are: {', '.join(there)}")
    return name


def _first(places: np.ndarray) -> int | None:
    """The number of the first element that is true."""
    return int(places.argmax()) if places.any() else None


def _first_nan(array: np.ndarray) -> int | None:
    nan = np.zeros(array.shape, bool)
    for name in array.dtype.names or (...,):
        numbers = array[name]
        if numbers.dtype.kind in "fc":
            nan |= np.isnan(numbers).any(axis=tuple(range(array.ndim, numbers.ndim)))  # a field may be an array
    return _first(nan)


def _read_only(value: Any) -> Any:
    """An array that a reference cannot change: the ways get it, too."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value
