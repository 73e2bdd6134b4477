"""The user's code that a package copies: the kernel with the headers beside it, and the case's launch."""

import ast
import contextlib
import re
import runpy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from fourways.kernels import KernelCase
from fourways.package.error import PackageError

_IMPORTS = (ast.Import, ast.ImportFrom)
_COMMENT = re.compile(r"^(?://[^\n]*\n?)+|^/\*.*?\*/", re.MULTILINE | re.DOTALL)
_LICENCE = re.compile("copyright|licen[cs]e|spdx", re.IGNORECASE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


def kernel_files(case: KernelCase) -> dict[str, str]:
    """The texts of the kernel's file and of all that it includes from beside it or from the options' folders.

    The names are paths below the folder of the kernel. Raises PackageError for a header above it.
    """
    folders = [case.path.parent, *(Path(option[2:]) for option in case.options if option.startswith("-I"))]
    texts: dict[str, str] = {}
    waiting = [(case.path, case.path.name)]
    while waiting:
        path, name = waiting.pop()
        if name in texts:
            continue
        try:
            texts[name] = path.read_bytes().decode()  # keeps the line ends
        except UnicodeDecodeError as error:
            raise PackageError(f"{name} is no UTF-8 text ({error.reason} at byte {error.start}): save it so") from None
        for included in _INCLUDE.findall(texts[name]):
            places = [(path.parent, Path(name).parent / included), *((each, Path(included)) for each in folders)]
            if place := next((each for each in places if (each[0] / included).is_file()), None):
                waiting.append((place[0] / included, _inside(place[1], path)))
    return texts


def _inside(name: Path, by: Path) -> str:
    """`name` without its `..`, if it does not leave the folder."""
    parts: list[str] = []
    for part in name.parts:
        if part != "..":
            parts.append(part)
        elif not parts:
            raise PackageError(f"{by.name} includes {name}, above its folder: copy that header beside the kernel first")
        else:
            parts.pop()
    return "/".join(parts)


def compiler_options(case: KernelCase) -> tuple[list[str], str]:
    """The case's options for nvcc, without the folders of headers, which are copied; and the standard of C++."""
    named = [match[1] for option in case.options if (match := re.fullmatch(r"--?std=c\+\+(\d\d)", option))]
    others = [option for option in case.options if not re.match(r"-I|--?std=", option)]
    return others, (named or ["17"])[-1]


def check_copy(case: KernelCase, file: Path, size: int, inputs: Sequence[Any]) -> None:
    """Raise PackageError where the copy `file` of the case's file misses a file beside the case, or in this folder.

    `inputs` are those of the reference, made for `size`.
    """
    assert case.file
    try:
        with contextlib.chdir(file.parent):
            copy = runpy.run_path(str(file), run_name="case")
            copy["make_inputs"](size)
            copy["reference"](*inputs)
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        advice = "a case of a package stands alone: let it make what it reads"
        raise PackageError(f"{case.file.name} cannot be run elsewhere ({reason}); {advice}") from None


def summary(case: KernelCase) -> str:
    """Return one line about the kernel, from the docstring of the case's reference or the file's first comment.

    A long text is cut after its first sentence, or before a comma. A licence does not count as a comment.
    """
    tree = ast.parse(case.file.read_text(encoding="utf-8")) if case.file else ast.Module([], [])
    references = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "reference"]
    told = [ast.get_docstring(each) or "" for each in references]
    told += [_plain(match[0]) for match in _COMMENT.finditer(case.source) if not _LICENCE.search(match[0])]
    text = " ".join(next((text for text in told if text), "").partition("\n\n")[0].split())
    text = re.split(r"(?<=\w\w[.!?]) (?=[A-Z])", text)[0]  # the first sentence
    line = next((text[:end] for end in _ends(text) if end < 80), "").rstrip(".;:, ")
    return f"{line}." if line and not set(line) & {"\\", '"'} else f"The CUDA kernel {case.entry}."


def _plain(comment: str) -> str:
    """A comment without its signs, and without the name before it, as in `softclip: bent softly`."""
    lines = (re.sub(r"^\s*(?://+|/?\*+/?)|\*+/\s*$", "", line).strip() for line in comment.splitlines())
    return re.sub(r"^\w+:\s+", "", "\n".join(lines).strip())


def _ends(text: str) -> list[int]:
    """The positions at which a text can end: its own end, then each semicolon or colon, then each comma, last first."""
    return [len(text), *(match.start() for sign in ("[;:] ", ", ") for match in [*re.finditer(sign, text)][::-1])]


def launch_source(case: KernelCase) -> str:
    """The text of the case's launch(), after the parts of the case's file that it uses, as they stand there."""
    assert case.file
    text = case.file.read_text(encoding="utf-8")
    statements = ast.parse(text).body
    wanted, chosen = {"launch"}, set[int]()
    grown = True
    while grown:
        grown = False
        for number, statement in enumerate(statements):
            if number not in chosen and wanted & set(_defines(statement)):
                chosen.add(number)
                wanted |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                grown = True
    parts = [(statements[number], _as_written(text, statements[number], wanted)) for number in sorted(chosen)]
    imports = "".join(part for statement, part in parts if isinstance(statement, _IMPORTS))
    others = "".join(part for statement, part in parts if not isinstance(statement, _IMPORTS))
    gap = "\n" if imports and not others.startswith("\n") else ""
    return imports + gap + (others if imports else others.removeprefix("\n")).rstrip() + "\n"


def run_launch(source: str, case: KernelCase, size: int, values: Mapping[str, Any]) -> tuple:
    """Return the result of the copied launch() for the kernel's `values`.

    Raises PackageError where the copy cannot stand alone.
    """
    assert case.file
    namespace: dict[str, Any] = {}
    given = [values[name] for name in case.launch_inputs]
    seen = [SimpleNamespace(shape=value.shape) if isinstance(value, np.ndarray) else value.item() for value in given]
    try:
        exec(compile(source, f"<launch of {case.file.name}>", "exec"), namespace)
        return namespace["launch"](size, *seen)
    except Exception as error:
        raise PackageError(f"{case.file.name}: launch cannot stand alone: {type(error).__name__}: {error}") from None


def _defines(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of the file's top level defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, _IMPORTS):
        yield from (_bound(alias) for alias in statement.names)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _as_written(text: str, statement: ast.stmt, wanted: set[str]) -> str:
    """A statement with its comments and decorators; an import without the names that are not used."""
    if isinstance(statement, _IMPORTS):
        statement.names = [alias for alias in statement.names if _bound(alias) in wanted]
        return ast.unparse(statement) + "\n"
    lines = text.splitlines()
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))]) - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    gap = "\n\n" if isinstance(statement, ast.FunctionDef | ast.ClassDef) else ""
    return gap + "\n".join(lines[first : statement.end_lineno]) + "\n"
