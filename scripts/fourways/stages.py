"""The stages of a first result, and a cell's imports apart from the rest of it.

Programs that measure a fresh process import this module, so it uses only the standard library.
"""

import ast
from typing import Any

STAGES = ("start", "import", "context", "inputs", "build", "load", "launch")
"""The stages of a first result, in order; `start`, the interpreter's own, is over when this module is imported."""

PROGRAM_STAGES = (*STAGES, "launches", "check", "end")
"""The stages of a whole program. `launches` is a loop only to be measured: no part of the program's total."""


def split(source: str) -> tuple[Any, Any]:
    """A cell's top-level imports and the rest of it, each as code."""
    tree = ast.parse(source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in tree.body if node not in imports]
    return tuple(compile(ast.Module(body, []), "<cell>", "exec") for body in (imports, rest))  # type: ignore
