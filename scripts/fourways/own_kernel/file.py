"""A Python file of definitions, such as a case: executes it and calls its functions; each error is one line."""

import inspect
import runpy
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from keyword import iskeyword
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fourways.kernels import InputError, NotThereError


class CaseError(InputError):
    """A case that cannot be run or does not fit its kernel. The message says what to mend."""


class CaseFile:
    """What a case's file `defines`, by name. Its methods raise CaseError, which begins with the file's name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise NotThereError(f"no file {path}; `fourways check --help` shows a case")
        try:
            self.defines: dict[str, Any] = runpy.run_path(str(path), run_name=path.stem)
        except (Exception, SystemExit) as error:
            raise CaseError(f"{path.name}{self._line(error)} cannot be run: {_words(error)}") from None

    def several(self, key: str, kind: type) -> tuple:
        """The tuple `key`, of values of one kind; empty where it is not there."""
        values = self.defines.get(key, ())
        if not isinstance(values, tuple | list | range) or not all(isinstance(each, kind) for each in values):
            self.refuse(f"{key} is a tuple of {kind.__name__}; {values!r} came")
        return tuple(values)

    def by_name(self, key: str, kind: type) -> dict[str, Any]:
        """The dictionary `key`, from names to values of one kind; empty where it is not there."""
        values = self.defines.get(key, {})
        if not isinstance(values, dict) or not all(isinstance(each, kind) for each in values.values()):
            self.refuse(f"{key} is a dictionary from names to {kind.__name__}; {values!r} came")
        return dict(values)

    def tolerance(self, key: str, default: float) -> float:
        """The number `key`, 0 or more."""
        value = self.defines.get(key, default)
        if not isinstance(value, int | float) or not 0 <= value < np.inf:
            self.refuse(f"{key} is a number, 0 or more; {value!r} came")
        return float(value)

    def called(self, key: str, *positional: Any, **named: Any) -> Any:
        """Call the function `key`, and give it those of the `named` values that it has parameters for."""
        function = self.defines.get(key)
        if not callable(function):
            self.refuse(f"it defines no function {key}; `fourways check --help` shows a case")
        taken = inspect.signature(function).parameters.values()
        if positional and (first := next(iter(taken), None)) and first.name in named:
            if first.name != "size":
                self.refuse(f"{key}: its first parameter gets the size: write {key}(size, {first.name})")
            del named["size"]  # a parameter of the kernel of the same name
        if not any(each.kind is each.VAR_KEYWORD for each in taken):
            names = {f"{name}_" if iskeyword(name) else name: name for name in named}  # lambda_ stands for lambda
            named = {each.name: named[names[each.name]] for each in taken if each.name in names}
        try:
            return function(*positional, **named)
        except (Exception, SystemExit) as error:
            asked = f"({positional[0]})" if len(positional) == 1 else ""
            hint = "; copy the array before you change it" if "read-only" in str(error) else ""
            self.refuse(f"{key}{asked}{self._line(error)}: {_words(error)}{hint}")

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put the file's name before the message of an InputError in this block."""
        try:
            yield
        except InputError as error:
            self.refuse(str(error))

    def refuse(self, problem: str) -> NoReturn:
        """Raise CaseError."""
        raise CaseError(f"{self.path.name}: {problem}")

    def _line(self, error: BaseException) -> str:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(self.path)]
        return f", line {lines[-1]}" if lines else ""


def _words(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
