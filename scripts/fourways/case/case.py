"""A user's kernel, outside any lesson, with any signature: its inputs, its reference, its launch, its ways."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, kernels, toolchain
from fourways.building import BuildError
from fourways.case.entry import entry_of
from fourways.case.file import CaseFile, named_reference
from fourways.case.launch import Shape, shape
from fourways.case.roles import Roles, count, roles, wants
from fourways.case.skeleton import skeleton
from fourways.case.values import blank_output, first_nan, read_only, right_output, taken
from fourways.kernels import Signature
from fourways.ways import WAYS, Ways, missing

_UNJUDGED = "Checked against the host way: a mistake in the kernel's idea goes unseen; write a reference into a case."
_WRITES = (  # or hands on, so that somebody may write
    r"(?:\+\+|--|&)\s*{0}\b|[(,]\s*{0}\s*[,)+]"
    r"|\b{0}\b\s*(?:\[[^\]]*\]\s*|\.\s*\w+\s*)*(?:\+\+|--|(?:[-+*/|^%&]|<<|>>)?=(?!=))"
)
_JUDGE = "which says what is right where no reference does"
_NO_TEMPLATES = (
    'it finds no template and no namespace by name; write an extern "C" kernel that calls a __device__ function'
)


class Case:
    """A kernel in a file with what a case tells of it: `Case.load` reads both.

    `entry`, `signature`, `source` and `options` are the kernel's; `file` is the case's, or None. `names` (the inputs),
    `outputs` and `in_place` are names of parameters in the kernel's order; `size` is that of the size, or None.
    `has_launch` says whether the case has a launch of its own, `launch_inputs` names the inputs that it takes. `probe`
    is a small size that the case can do. `compared_with` is a sentence for people.
    """

    rtol = 1e-5  # float32 rounds, and compilers may contract a product and a sum into one rounding

    def __init__(
        self, path: Path, signature: Signature, given: CaseFile, options: tuple[str, ...], timeout: int, named: Roles
    ) -> None:
        self.path, self.source, self.file = path, kernels.text_of(path), given.file
        self.signature, self.entry = signature, signature.entry
        self.options, self.timeout = options, timeout
        self.size, self.names, self.outputs, self.in_place = named
        self.rtol, self.atol = given.tolerance("rtol", Case.rtol), given.tolerance("atol", 0.0)
        self.sizes, self.probe, self.has_launch = given.several(int, "sizes"), given.probe, "launch" in given
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
        file = Path(case).resolve() if case else None
        given = CaseFile(file, file.name if file else kernel.name)
        options = tuple(  # with absolute folders, because compilers run in several folders
            f"-I{kernel.parent / option[2:]}" if option.startswith("-I") else option
            for option in given.several(str, "options")
        )
        if not signature:
            name = entry_of(kernel, entry, options)
            signature = building.signatures(kernel, [name], options)[name]
        if not file:
            text = skeleton(signature, kernels.text_of(kernel))
            given = CaseFile(None, reference or kernel.name, text)
        if reference:
            given.defines["reference"], given.judge = named_reference(reference), reference
        loaded = cls(kernel, signature, given, options, timeout, roles(signature, given))
        loaded.launch_of(loaded.make_inputs(loaded.probe))  # report an impossible launch now
        return loaded

    @functools.cached_property
    def has_shared(self) -> bool:
        """Whether it asks for dynamic shared memory."""
        return self.launch_of(self.make_inputs(self.probe))[2] > 0

    @functools.cached_property
    def unfilled(self) -> str | None:
        """A sentence on the variables of the kernel's module that hold zeros, because nobody fills them; or None."""
        _, variables = toolchain.declared(self.path, self.options)
        blank = [each.name for each in variables if not each.is_initialised]
        zeros = [name for name in blank if not re.search(_WRITES.format(name.rpartition("::")[2]), self._device_code)]
        if not zeros:
            return None
        what = f"{zeros[0]} holds" if len(zeros) == 1 else f"{', '.join(zeros)} hold"
        return f"{what} zeros in every way: a case cannot fill it. Give it an initial value, or the kernel an array."

    @property
    def _device_code(self) -> str:
        """The file without comments and without the calls that fill a variable from the host."""
        return re.sub(r"\bcudaMemcpy\w*\s*\([^;]*;", "", kernels.without_comments(self.source))

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
        arrays = self._given.called("reference", *map(read_only, inputs))
        if len(arrays) != len(self.outputs):
            self._refuse(f"reference gives {count(arrays, 'array')}; {wants(self.signature, self.outputs)}")
        outputs = zip(self.outputs, arrays, self._before(inputs), strict=True)
        return {
            name: right_output(self._given, self._parameters[name], array, before) for name, array, before in outputs
        }

    def _before(self, inputs: Sequence[Any]) -> list[Any]:
        """What each output holds before the launch: None, or the array of one in place."""
        return [inputs[self.names.index(name)] if name in self.in_place else None for name in self.outputs]

    @property
    def has_reference(self) -> bool:
        """Whether the case or the user gives a reference, so that the host way need not judge."""
        return "reference" in self._given

    def blank_outputs(self, size: int, *inputs: Any) -> dict[str, np.ndarray]:
        """Outputs where nothing tells their shapes: `size` elements of the kernel's dtypes, NaN or -1; or their inputs.

        Raises CaseError for an output whose elements have no known size.
        """
        blank = functools.partial(blank_output, self._given, self.source, int(size))
        outputs = zip(self.outputs, self._before(inputs), strict=True)
        return {name: blank(self._parameters[name]) if old is None else old.copy() for name, old in outputs}

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
            self._shapes[key] = shape(self._given, self.signature.limits, *key)
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
        if "<" in self.entry or "::" in self.entry:
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
        question = self.make_inputs, self.reference
        return Ways(self.entry, *question, functions, lacks, self.rtol, self.sizes, self.starts, self.atol)

    @property
    def starts(self) -> Mapping[int, int]:
        """Map each output in place to the input with its initial contents, both by number, for `Ways.in_place`."""
        return {self.outputs.index(name): 1 + self.names.index(name) for name in self.in_place}

    def _by_host(self, size: int, *inputs: Any) -> dict[str, np.ndarray]:
        outputs = self.blank_outputs(size, *inputs)
        try:
            self._on_host(size, *inputs, *outputs.values())
        except (TypeError, ValueError) as error:
            self._refuse(f"the host way, {_JUDGE}: {error}")
        for name, array in outputs.items():
            if (nan := first_nan(array)) is not None:
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
