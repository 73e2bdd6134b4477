"""A case's file: reads its definitions, checks their types and calls its functions; each error is one line.

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

import inspect
import runpy
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fourways.kernels import InputError, NotThereError


class CaseError(InputError):
    """A case that cannot be run or does not fit its kernel. The message says what to mend."""


class CaseFile:
    """The names that a case `defines`, from its executed file or from a text. An error begins with `name`.

    Its methods raise CaseError.
    """

    def __init__(self, file: Path | None, name: str, text: str = "") -> None:
        self.name, self.file, self.judge = name, file, f"reference of {name}"
        self.defines: dict[str, Any] = {}
        if file:
            self.defines |= _run(file)
        else:
            exec(text, self.defines)

    def __contains__(self, key: str) -> bool:
        return key in self.defines

    @property
    def probe(self) -> int:
        """The size of the first calls: the first of the case's own sizes, or 5."""
        return next((size for size in self.several(int, "sizes") if size), 5)

    def several(self, kind: type, key: str) -> tuple:
        """The tuple `key` of values of one kind; an empty one where it is not there."""
        values = () if (given := self.defines.get(key)) is None else given
        if not isinstance(values, tuple | list | range) or not all(isinstance(each, kind) for each in values):
            self.refuse(f"{key} is a tuple of {kind.__name__}; {values!r} came")
        return tuple(values)

    def parameters(self, key: str, known: Sequence[str], what: object) -> tuple[str, ...]:
        """The parameters that `key` names, in the order of `known`; an error calls their owner `what`."""
        names = (name,) if isinstance(name := self.defines.get(key), str) else self.several(str, key)
        if unknown := [name for name in names if name not in known]:
            self.refuse(f"{key} names {unknown[0]!r}; of {what} it can be {', '.join(known) or 'none'}")
        return tuple(name for name in known if name in names)

    def tolerance(self, key: str, default: float) -> float:
        """The number `key`, 0 or more."""
        value = self.defines.get(key, default)
        if not isinstance(value, int | float) or not 0 <= value < np.inf:
            self.refuse(f"{key} is a number, 0 or more; {value!r} came")
        return float(value)

    def required(self, key: str) -> tuple[str, ...]:
        """The names of the arguments that the function `key` cannot do without; none where it is not there."""
        function = self.defines.get(key)
        if not callable(function):
            return ()
        all = inspect.signature(function).parameters.values()
        return tuple(each.name for each in all if each.default is each.empty and each.kind != each.VAR_POSITIONAL)

    def called(self, key: str, *arguments: Any) -> tuple:
        """Call the function `key` and return its result as a tuple."""
        function = self.defines.get(key)
        if not callable(function):
            self.refuse(f"defines no function {key}({'*inputs' if key == 'reference' else 'size'})")
        try:
            result = function(*arguments)
        except CaseError:
            raise
        except (Exception, SystemExit) as error:
            asked = "…" if key == "reference" else arguments[0]
            hint = "; of an array launch sees its shape alone" if "SimpleNamespace" in str(error) else ""
            self.refuse(f"{key}({asked}){_line(error, self.file)}: {_words(error)}{hint}")
        return tuple(result) if isinstance(result, tuple | list) else (result,)

    def refuse(self, problem: str) -> NoReturn:
        """Raise CaseError with the case's name before the problem."""
        raise CaseError(f"{self.name}: {problem}")


def named_reference(reference: str) -> Callable[..., Any]:
    """The function that `"expected.py:function"` names. Raises CaseError if there is none."""
    file, _, name = reference.rpartition(":")
    if not Path(file).is_file():
        raise NotThereError(f"no file {file!r}: a reference is named as expected.py:function")
    function = _run(Path(file)).get(name)
    if not callable(function):
        raise CaseError(f"{file} defines no function {name!r}")

    def expected(*inputs: Any) -> Any:
        try:
            return function(*inputs)
        except (Exception, SystemExit) as error:
            raise CaseError(f"the reference {reference}{_line(error, Path(file))}: {_words(error)}") from None

    return expected


def _run(file: Path) -> Mapping[str, Any]:
    if not file.is_file():
        raise NotThereError(f"no file {file}: `fourways case my.cu` writes a case for a kernel")
    try:
        file.read_text(encoding="utf-8")
        return runpy.run_path(str(file), run_name=file.stem)
    except (Exception, SystemExit) as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and file.with_name(f"{error.name}.py").is_file():
            hint = f"; a case stands alone: put what it needs of {error.name}.py into it"
        raise CaseError(f"{file.name}{_line(error, file)} cannot be run: {_words(error)}{hint}") from None


def _words(error: BaseException) -> str:
    """The type and the message of an error, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _line(error: BaseException, file: Path | None) -> str:
    """The line of the file in which the error was raised."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""
