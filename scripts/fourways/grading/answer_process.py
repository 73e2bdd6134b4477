"""The process that judges one answer: it reads the task from standard input, and writes the verdict as JSON."""

import ast
import contextlib
import io
import json
import os
import re
import resource
import sys
import types
from typing import Any

_FILE = 2**28
"""The bytes that one file may hold."""


def main() -> None:
    """Run the lesson's cells, then the answer, then the judge, and write {"secret", "is_right", "message"}."""
    task, verdict = json.load(sys.stdin), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the answer prints is no verdict
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
    is_right, message = _judged(task)
    os.write(verdict, json.dumps({"secret": task["secret"], "is_right": is_right, "message": message}).encode())


def _judged(task: dict[str, Any]) -> tuple[bool, str]:
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for source in task["setup"]:
            exec(compile(source, "<the lesson>", "exec"), names)
        trusted, own = _attributes(), dict(names)
        try:
            exec(compile(task["answer"], "<the answer>", "exec"), own)
        except SyntaxError as error:
            is_command = (error.text or "").lstrip().startswith(("%", "!"))
            ipython = " (commands of IPython, % and !, are not judged)" if is_command else ""
            line = f" in line {error.lineno}" if error.lineno else ""
            return False, f"SyntaxError{line}: {error.msg}{ipython}"
        except BaseException as error:
            return False, f"the answer raised {type(error).__name__}: {error}"
    if lacking := [name for name in task["names"] if name not in own]:
        return False, f"the answer binds no {' and no '.join(lacking)}"
    names |= {name: own[name] for name in task["names"]}
    exec(compile(task["given"], "<the exercise>", "exec"), names)  # again: the answer may have changed what it holds
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        try:
            values = (_value(each, names) for each in ast.parse(task["judge"]).body)
            value = next((value for value in values if value is not None), None)  # None: the judge prints its verdict
        except BaseException as error:
            value = f"the check raised {type(error).__name__}: {error}"
    if changed := [name for (owner, name), value in trusted.items() if owner.__dict__.get(name) is not value]:
        return False, f"the answer replaced {', '.join(sorted(changed)[:3])}, on which the check rests"
    if isinstance(value, str):
        return value.startswith("Right"), value
    if refused := re.search("^Not yet.*", told.getvalue(), re.DOTALL | re.MULTILINE):  # before it, the answer may print
        return False, refused[0].strip()
    is_right = value is True or (value is None and bool(re.search("^Right", told.getvalue(), re.MULTILINE)))
    return is_right, told.getvalue().strip() or str(value)


def _value(statement: ast.stmt, names: dict[str, Any]) -> Any:
    """Run one statement of the judge, and return the value of `print(value)` and `name = call()`; else None."""
    match statement:
        case ast.Expr(ast.Call(ast.Name("print"), [printed])):
            return eval(compile(ast.Expression(printed), "<the check>", "eval"), names)
    exec(compile(ast.Module([statement], []), "<the check>", "exec"), names)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        return eval(ast.unparse(statement.targets[0]), names)
    return None


def _attributes() -> dict[tuple[Any, str], Any]:
    """Return what checks rest on: all attributes of Python's built-ins, NumPy, the package, and its classes."""
    modules = [each for name, each in sys.modules.items() if name.split(".")[0] in ("builtins", "numpy", "fourways")]
    owners: list[Any] = [each for each in modules if isinstance(each, types.ModuleType)]
    owners += {
        value
        for each in owners
        for value in vars(each).values()
        if isinstance(value, type) and value.__module__.startswith("fourways")
    }
    return {(owner, name): value for owner in owners for name, value in vars(owner).items() if name != "_"}


if __name__ == "__main__":
    main()
