"""A kernel with its case: the arguments, the right answer and the launch that the case says, and the ways."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fourways import kernels, toolchain
from fourways.building import KEPT, BuildError, Told
from fourways.kernels import Declared, InputError
from fourways.own_kernel import builders, types
from fourways.own_kernel.file import CaseFile
from fourways.ways import Ways, missing


class Right(dict[str, np.ndarray]):
    """The right outputs by name. `same` is the case's own judge, or None; `inputs` are the names of `make_inputs`."""

    same: Callable[[dict, dict], Any] | None = None
    inputs: tuple[str, ...] = ()


def read(kernel_file: Path | str, case_file: Path | str, timeout: int = 60) -> "Case":
    """Read a kernel with its case: execute the case's file, call its functions at a small size, compare the types.

    `timeout` is in seconds, for a launch by the host way. Raises NotThereError for a file that is not there; CaseError
    for a case that cannot be run or does not fit its kernel; BuildError for a kernel that no compiler takes.
    """
    return Case(kernels.user_file(str(kernel_file)).resolve(), Path(case_file).resolve(), timeout)


class Case:
    """A kernel with its case, as `read` returns it.

    `path` and `file` are the kernel's file and the case's. `kernel` is the kernel's name, or the instance. `parameters`
    are the kernel's as the compiler has them, in its order; `given` are the names of the arguments that are not None,
    `outputs` of those that the kernel writes. `probe` is the size of the first calls, `source` what the ways compile.
    `unset` are the __constant__ variables that nothing sets. The attributes `options`, `constants`, `sizes`, `rtol`,
    `atol` and `derived` are the case's names.
    """

    def __init__(self, path: Path, file: Path, timeout: int) -> None:
        self.path, self.file, self._case = path, file, CaseFile(file)
        self.options = tuple(  # with absolute folders, because compilers run in several folders
            f"-I{path.parent / each[2:]}" if each.startswith("-I") else each
            for each in self._case.several("options", str)
        )
        self.sizes, self.constants = self._case.several("sizes", int), self._case.by_name("constants", np.ndarray)
        self.rtol, self.atol = self._case.tolerance("rtol", 1e-5), self._case.tolerance("atol", 0.0)
        self.derived = self._case.by_name("derived", str)
        self.probe = next((size for size in self.sizes if size), 5)
        there, variables = toolchain.declared(path, self.options)
        self._variables = [each.name for each in variables]
        declared = self._declared(there)
        blank = [each.name for each in variables if each.is_constant and not each.is_initialised]
        self.unset = tuple(name for name in blank if name not in self.constants)
        self._names = self._ordered(declared.parameters, self._case.called("arguments", self.probe))
        self._kinds: dict[str, Any] = {}
        self._launches: dict[int, builders.Launch] = {}
        values = self.arguments(self.probe)
        self._kinds = {name: _kind(value) for name, value in values.items()}
        told = self._compared(values)
        self.signature, self.parameters = told.signature, told.signature.parameters
        self.given = tuple(name for name, value in values.items() if value is not None)
        self.outputs = tuple(self.right(self.probe, values))
        self.launch(self.probe, values)
        kept = KEPT.format(entry=self.kernel) if declared.template is not None else ""
        self.source = builders.Source(
            path,
            kernels.text_of(path) + kept,
            told.symbol,
            None if declared.is_c else self.kernel,
            self.options,
            self.constants,
            tuple(parameter.alignment for parameter in self.parameters),
            timeout,
        )

    def arguments(self, size: int) -> dict[str, Any]:
        """Return the kernel's arguments at a size, in its order: C-contiguous arrays, NumPy scalars, or None.

        A struct by value is a `np.void`. None stands for an array that the kernel only writes. Raises CaseError.
        """
        given = self._case.called("arguments", size)
        self._ordered(self._names, given)
        with self._case.naming():
            values = {name: types.value(name, given[name]) for name in self._names}
        for name, kind in self._kinds.items():
            if _kind(values[name]) != kind:
                self._case.refuse(f"{name}: arguments({size}) gives another type than arguments({self.probe})")
        return values

    def right(self, size: int, arguments: Mapping[str, Any]) -> Right:
        """Return the right outputs for `arguments`, those of `size`, by name, in the kernel's order and of its dtypes.

        Raises CaseError for an answer of another name, shape or dtype, and for NaN.
        """
        answers, right = self._answers(arguments), Right()
        right.same = partial(self._case.called, "same") if self._case.defines.get("same") else None
        right.inputs = ("size", *self.given)
        with self._case.naming():
            for name, parameter in zip(self._names, self.parameters, strict=True):
                if name in answers:
                    right[name] = types.output(name, parameter, answers[name], arguments[name])
        return right

    def launch(self, size: int, arguments: Mapping[str, Any]) -> builders.Launch:
        """Return grid, block and bytes of shared memory: the case's, or a thread for each element in blocks of 256.

        Raises CaseError for a launch that no GPU takes, or that the kernel's own limits exclude.
        """
        given: Any = (max(1, -(-size // 256)), 256)
        if "launch" in self._case.defines:
            named = {name: value for name, value in arguments.items() if value is not None}
            given = self._case.called("launch", size, **named)
        try:
            self._launches[size] = builders.shape(given, self.signature.limits)
        except (TypeError, ValueError) as error:
            self._case.refuse(f"launch({size}): {error}")
        return self._launches[size]

    def ways(self, chosen: Sequence[str] = (), tell: Callable[[str], Any] = lambda _: None) -> Ways:
        """Compile the kernel by the ways of `builders` that can run here, of `chosen` or all, and return them.

        The functions take `(size, *given, *outputs)`. A way that refuses the kernel is in `missing`, as "not built:
        ...". `tell` gets the name of each. Raises InputError for a way that calls no kernel of one's own.
        """
        if unknown := [way for way in chosen if way not in builders.BUILDERS]:
            hint = "; `fourways package` makes a module by pybind11" if "pybind11" in unknown else ""
            raise InputError(f"{unknown[0]}: the ways of a kernel of your own are {', '.join(builders.BUILDERS)}{hint}")
        lacks = {way: why for way in builders.BUILDERS if (why := missing(way))}
        functions: dict[str, Callable[..., None]] = {}
        for way in [each for each in chosen or builders.BUILDERS if each not in lacks]:
            tell(f"{self.kernel}, {way}")
            try:
                functions[way] = self.function(way)
            except BuildError as error:
                lacks[way] = f"not built: {error}"
        more: dict[str, Any] = {"rtol": self.rtol, "atol": self.atol, "sizes": self.sizes, "in_place": self.in_place}
        return Ways(self.kernel, self.make_inputs, self.reference, functions, lacks, **more)

    def function(self, way: str) -> Callable[..., None]:
        """Compile the kernel for one way and return it as a function of `(*make_inputs(size), *outputs)`.

        Raises BuildError in the compiler's words.
        """
        toolchain.activate()
        try:
            kernel = builders.BUILDERS[way](self.source)
        except BuildError:
            raise
        except Exception as error:  # CuPy's and PyCUDA's compilers have exceptions of their own
            raise BuildError(f"{way} refused {self.path.name}", str(error)) from None

        def call(size: int, *values: Any) -> None:
            by_name = dict(zip((*self.given, *self.outputs), values, strict=True))  # an output replaces what it held
            shape = self._launches.get(int(size)) or self.launch(int(size), self.arguments(int(size)))
            kernel(*shape, [by_name[name] for name in self._names])

        return call

    @property
    def in_place(self) -> dict[int, int]:
        """Map the number of each output in place to that of the same array among `make_inputs`'s values."""
        return {at: 1 + self.given.index(name) for at, name in enumerate(self.outputs) if name in self.given}

    def make_inputs(self, size: int) -> tuple:
        """Return the size and the arguments that are not None, for `Ways`."""
        values = self.arguments(size)
        self.launch(size, values)  # report a wrong launch once, not by every way
        return np.int64(size), *(values[name] for name in self.given)

    def reference(self, size: int, *given: Any) -> Right:
        """Return `right` for what `make_inputs` returns."""
        return self.right(int(size), dict.fromkeys(self._names) | dict(zip(self.given, given, strict=True)))

    def _declared(self, there: Mapping[str, Declared]) -> Declared:
        named = self._case.defines.get("kernel")
        try:
            self.kernel = kernels.meant(there, named, self.path.name)
        except InputError as error:
            example = next((kernel.example for kernel in there.values()), "")
            self._case.refuse(f"{error}; write, say, kernel = {example!r}" if example and not named else str(error))
        return there[self.kernel.partition("<")[0]]

    def _ordered(self, names: Sequence[str], given: Any) -> list[str]:
        """Return the names of `arguments` in the kernel's order. Where the text has no name, the place decides."""
        if not isinstance(given, dict):
            self._case.refuse("arguments(size) returns a dictionary: values by the names of the kernel's parameters")
        if len(given) == len(names):
            names = [key if name.startswith("argument ") else name for key, name in zip(given, names, strict=True)]
        wanted = f"{self.kernel} takes {', '.join(names)}"
        if lacking := [name for name in names if name not in given]:
            self._case.refuse(f"arguments lacks {lacking[0]}; {wanted} (None: an array that the kernel only writes)")
        if extra := [key for key in given if key not in names]:
            self._case.refuse(f"arguments has {extra[0]}; {wanted}")
        return list(names)

    def _answers(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: types.read_only(value) for name, value in arguments.items() if value is not None}
        answers = self._case.called("reference", **given)
        if not isinstance(answers, dict):
            self._case.refuse('reference returns a dictionary: the right outputs by name, such as {"y": 2 * x}')
        if unknown := [name for name in answers if name not in arguments]:
            self._case.refuse(f"reference returns {unknown[0]}; the arguments are {', '.join(arguments)}")
        if lacking := [name for name, value in arguments.items() if value is None and name not in answers]:
            self._case.refuse(f"{lacking[0]} is None, and reference does not return it: return what is right")
        if not answers:
            self._case.refuse("reference returns no output, so nothing would be checked")
        return answers

    def _compared(self, values: Mapping[str, Any]) -> Told:
        """Compare the types of arguments and constants with the kernel's, and return what the compiler tells."""
        answers = self._answers(values)
        known = {name: np.asarray(answers[name]) if value is None else value for name, value in values.items()}
        things = [
            types.Thing(name, each.dtype, isinstance(each, np.ndarray), values[name] is not None)
            for name, each in known.items()
        ]
        with self._case.naming():
            try:
                return types.ask(self.path, self.kernel, self.options, things, self.constants)
            except BuildError as error:
                for name in self.constants:
                    if name not in self._variables and f'"{name.rpartition("::")[2]}"' in str(error):
                        there = ", ".join(self._variables) or "none"
                        raise InputError(
                            f"constants: {self.path.name} has no variable {name}; there are: {there}"
                        ) from None
                raise


def _kind(value: Any) -> Any:
    return None if value is None else (value.dtype, isinstance(value, np.ndarray))
