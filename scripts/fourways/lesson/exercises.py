"""The exercises of a lesson: what the learner binds, what judges it, and which cells of the lesson must run before."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from fourways.lesson.needs import skip_reason
from fourways.lesson.notebook import Lesson, tags


class Exercise(NamedTuple):
    """An exercise cell of a lesson, and the parts that judge an answer to it.

    `number` counts from 1, `cell` is the cell's place in the lesson's notebook. `names` are what an answer binds.
    `judge` is the statement that judges them, and what follows; `given` are those before. `solution` is the source of
    the lesson's answer, without its judge.
    """

    lesson: Lesson
    number: int
    cell: int
    stub: str
    names: tuple[str, ...]
    given: str
    judge: str
    solution: str

    @property
    def rest(self) -> str:
        """What the exercise gives besides the answer, as source."""
        statements = _tree(self.given).body
        return "\n".join(ast.unparse(each) for each in statements if not set(_binding(each)) & set(self.names))

    @property
    def test(self) -> str:
        """A cell that raises AssertionError unless the answer, as a notebook has bound it, is right.

        It binds again all that the exercise gave besides the answer.
        """
        lines = ["from fourways import checking", "", *self.rest.splitlines(), "with checking.passing():"]
        return "\n".join([*lines, f"    {ast.unparse(_tree(self.judge).body[0])}"])

    def setup(self, answer: str) -> list[str]:
        """Return the statements that an answer and its judge need, in order.

        They are the lesson's `setup` cell, the statements before the exercise that bind or change a name which is read
        later, and the exercise's own before its judge. A call of a module's function changes no name. Cells that
        measure, or that this machine cannot run, are left out.
        """
        cells = [
            cell
            for cell in self.lesson.notebook.cells[: self.cell]
            if cell.cell_type == "code" and not {"measure", "exercise", "solution"} & set(tags(cell))
        ]
        statements = [
            (statement, "setup" in tags(cell))
            for cell in cells
            if not skip_reason(cell)
            for statement in _tree(cell.source).body
        ]
        modules = {
            name
            for statement, _ in statements
            if isinstance(statement, ast.Import | ast.ImportFrom)
            for name in _binding(statement)
        }
        wanted = _read(_tree(answer)) | _read(ast.parse(self.given)) | _read(ast.parse(self.judge))
        chosen: list[str] = []
        for statement, is_setup in reversed(statements):
            if is_setup or wanted & {*_binding(statement), *(set(_changed(statement)) - modules)}:
                chosen.insert(0, ast.unparse(statement))
                wanted |= _read(statement)
        return [*chosen, self.given]


def exercises(asked: Lesson) -> list[Exercise]:
    """Return the exercises of a lesson, in order."""
    cells = asked.notebook.cells
    places = [i for i, cell in enumerate(cells) if cell.cell_type == "code" and "exercise" in tags(cell)]
    listed = []
    for number, place in enumerate(places, 1):
        solution = next(cell for cell in cells[place:] if "solution" in tags(cell))
        solved = set(_binding(ast.parse(solution.source)))
        given, judge = _halves(cells[place].source)
        names = tuple(name for name in _binding(ast.parse(given)) if name in solved)
        answer, _ = _halves(solution.source)
        listed.append(Exercise(asked, number, place, cells[place].source, names, given, judge, answer))
    return listed


def _halves(source: str) -> tuple[str, str]:
    """Return the source of an exercise or a solution before the first statement that judges, and from there on."""
    first = next(statement.lineno for statement in ast.parse(source).body if _judges(statement))
    lines = source.splitlines()
    return "\n".join(lines[: first - 1]).strip(), "\n".join(lines[first - 1 :])


def _tree(source: str) -> ast.Module:
    """Return the statements of a cell; none of an answer with an error, or of a cell that runs commands by `!`."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # an answer's process will say so
        return ast.Module([], [])


def _judges(statement: ast.stmt) -> bool:
    """Return whether a statement calls `checking.exercise` or a judge: `judge`, or a name that begins with `check_`."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.Assert):
        return False
    called = (ast.unparse(node.func).split(".")[-1] for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(name in ("exercise", "judge") or name.startswith("check_") for name in called)


def _read(tree: ast.AST) -> set[str]:
    """Return the names that a piece of code reads, at any depth."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _binding(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a piece of code binds, outside of its functions."""
    if isinstance(tree, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield tree.name
    elif isinstance(tree, ast.Name) and isinstance(tree.ctx, ast.Store):
        yield tree.id
    elif isinstance(tree, ast.alias):
        yield (tree.asname or tree.name).split(".")[0]
    elif not isinstance(tree, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for child in ast.iter_child_nodes(tree):
            yield from _binding(child)


def _changed(statement: ast.stmt) -> Iterator[str]:
    """Yield the names whose objects a statement changes: it calls a method, or sets an item or an attribute."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute() as method)):
            changed: list[ast.expr] = [method]
        case ast.Assign(targets):
            changed = targets
        case _:
            changed = []
    for part in changed:
        while isinstance(part, ast.Attribute | ast.Subscript):
            part = part.value
            if isinstance(part, ast.Name):
                yield part.id
