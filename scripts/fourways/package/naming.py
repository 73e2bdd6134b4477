"""Names for a kernel's parameters that the generated code uses for nothing else."""

import ast
import keyword
import re
from collections.abc import Callable, Iterable

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def free(names: Iterable[str], write: Callable[[dict[str, str]], set[str]], also: Iterable[str] = ()) -> dict[str, str]:
    """For each name the name itself, or where the generated code uses that, the name with `_` after it.

    `write` generates the code with stand-ins for the names, and returns all names in it. So no list of names has to be
    kept. `also` are further names that are taken.
    """
    names = list(dict.fromkeys(names))
    stand_ins = {name: f"fourways_parameter_{number}" for number, name in enumerate(names)}
    taken = {*write(stand_ins), *also} - {*stand_ins.values()}
    chosen: dict[str, str] = {}
    for name in names:
        new = name
        while keyword.iskeyword(new) or new in taken or (new != name and new in names):
            new += "_"
        chosen[name] = new
        taken.add(new)
    return chosen


def in_python(text: str) -> set[str]:
    """All names that Python code reads, assigns, imports or defines."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) or (isinstance(node, ast.ExceptHandler) and node.name):
            names.add(str(node.name))
    return names


def in_function(text: str, name: str) -> set[str]:
    """The names in one function of a module: its arguments, and what its body uses; annotations stand outside."""
    function = next(each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef) and each.name == name)
    names = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
    return names.union(*(in_python(ast.unparse(statement)) for statement in function.body))


def in_cpp(text: str) -> set[str]:
    """The names in C++ code that a variable could hide: all but members and what stands after `::`."""
    return set(re.findall(r"(?<![\w.])(?<!::)(?<!->)[A-Za-z_]\w*", _NOT_CODE.sub('""', text)))
