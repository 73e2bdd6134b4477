"""The exercises of a lesson, taken apart for nbgrader: the task, the solution, and the test of an answer."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from fourways.lesson.notebook import Lesson


class Exercise(NamedTuple):
    """An exercise, as sources.

    `stub` is its cell: `given`, then `judge`, which begins with the statement that judges the answer. `solution` is the
    lesson's answer without its judge. `test` is a cell that raises AssertionError unless the answer, as a notebook has
    bound it, is right. It binds again all that the exercise gave besides the answer.
    """

    stub: str
    given: str
    judge: str
    solution: str
    test: str


def exercises(lesson: Lesson) -> list[Exercise]:
    """Return the exercises of a lesson, in order."""
    return [_exercise(*cells) for cells in zip(lesson.cells("exercise"), lesson.cells("solution"), strict=True)]


def _exercise(stub: str, solved: str) -> Exercise:
    given, judge = _halves(stub)
    solution, _ = _halves(solved)
    answers = set(_binding(ast.parse(solution)))
    again = [ast.unparse(each) for each in ast.parse(given).body if not set(_binding(each)) & answers]
    judged = ast.unparse(ast.parse(judge).body[0])
    test = ["from fourways import checking", "", *again, "with checking.passing():", f"    {judged}"]
    return Exercise(stub, given, judge, solution, "\n".join(test))


def _halves(source: str) -> tuple[str, str]:
    """Return the source of an exercise or a solution before the first statement that judges, and from there on."""
    first = next(statement.lineno for statement in ast.parse(source).body if _judges(statement))
    lines = source.splitlines()
    return "\n".join(lines[: first - 1]).strip(), "\n".join(lines[first - 1 :])


def _judges(statement: ast.stmt) -> bool:
    """Return whether a statement calls a judge: of `exercises`, `checking.exercise`, `judge`, or a name `check_…`."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.Assert):
        return False
    called = (ast.unparse(node.func).split(".") for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(
        name[0] == "exercises" or name[-1] in ("exercise", "judge") or name[-1].startswith("check_") for name in called
    )


def _binding(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield tree.name
    elif isinstance(tree, ast.Name) and isinstance(tree.ctx, ast.Store):
        yield tree.id
    elif isinstance(tree, ast.alias):
        yield (tree.asname or tree.name).split(".")[0]
    elif not isinstance(tree, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        for child in ast.iter_child_nodes(tree):
            yield from _binding(child)
