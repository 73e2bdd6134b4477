"""The exercises of a lesson: what the learner binds, what judges it, and which cells of the lesson must run before."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from fourways import lesson
from fourways.lesson import Lesson


class Exercise(NamedTuple):
    """An exercise cell of a lesson, and the parts that judge an answer to it.

    `number` counts from 1, `cell` is the cell's place in the lesson's notebook. `names` are what an answer binds.
    `judge` is the statement that judges them, and what follows; `given` are those before.
    """

    lesson: Lesson
    number: int
    cell: int
    stub: str
    names: tuple[str, ...]
    given: str
    judge: str

    def setup(self, answer: str) -> list[str]:
        """Return the statements that an answer and its judge need, in order.

        They are the lesson's `setup` cell, the statements before the exercise that bind or change a name which is read
        later, and the exercise's own before its judge. Cells that measure, or that this machine cannot run, are left
        out.
        """
        cells = [
            cell
            for cell in self.lesson.notebook.cells[: self.cell]
            if cell.cell_type == "code" and not {"measure", "exercise", "solution"} & set(lesson.tags(cell))
        ]
        statements = [
            (statement, "setup" in lesson.tags(cell))
            for cell in cells
            if not lesson.skip_reason(cell)
            for statement in _tree(cell.source).body
        ]
        wanted = _read(_tree(answer)) | _read(ast.parse(self.given)) | _read(ast.parse(self.judge))
        chosen: list[str] = []
        for statement, is_setup in reversed(statements):
            if is_setup or wanted & {*_binding(statement), *_changed(statement)}:
                chosen.insert(0, ast.unparse(statement))
                wanted |= _read(statement)
        return [*chosen, self.given]


def exercises(asked: Lesson) -> list[Exercise]:
    """Return the exercises of a lesson, in order."""
    cells = asked.notebook.cells
    places = [i for i, cell in enumerate(cells) if cell.cell_type == "code" and "exercise" in lesson.tags(cell)]
    listed = []
    for number, place in enumerate(places, 1):
        solution = next(cell for cell in cells[place:] if "solution" in lesson.tags(cell))
        solved = set(_binding(ast.parse(solution.source)))
        statements = ast.parse(cells[place].source).body
        first = next(i for i, statement in enumerate(statements) if _judges(statement))
        given, judge = ast.Module(statements[:first], []), ast.Module(statements[first:], [])
        names = tuple(name for name in _binding(given) if name in solved)
        listed.append(
            Exercise(asked, number, place, cells[place].source, names, ast.unparse(given), ast.unparse(judge))
        )
    return listed


def _tree(source: str) -> ast.Module:
    """Return the statements of a cell; none of an answer with an error, or of a cell that runs commands by `!`."""
    try:
        return ast.parse(source)
    except SyntaxError:  # of an answer, the process that runs it will say so
        return ast.Module([], [])


def _judges(statement: ast.stmt) -> bool:
    """Return whether a statement calls `checking.exercise` or a judge: `judge`, or a name that begins with `check_`."""
    if not isinstance(statement, ast.Expr | ast.Assign):
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
            if isinstance(part, ast.Name) and part.id not in ("checking", "timing"):
                yield part.id
