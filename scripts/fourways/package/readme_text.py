"""The README of a package."""

from fourways.package.carried import summary
from fourways.package.dtypes import constants
from fourways.package.fill import fill, wrapped
from fourways.package.interface import Interface
from fourways.package.python_text import arguments


def readme(face: Interface, name: str) -> str:
    """The text of `README.md`."""
    files = {
        f"src/kernel/{face.case.path.name}": "the kernel, unchanged",
        f"src/{name}.cpp": "the function, bound with pybind11: it checks its arguments",
        f"src/{name}.cu": "launches the kernel",
        "src/arrays/": "reads and checks arrays of every GPU library; of the project Four Ways, licence beside",
        f"src/{name}/__init__.py": "the function that users call",
        **({f"src/{name}/_launch.py": "grid, block and shared memory"} if face.launch_text else {}),
        "CMakeLists.txt": "what is compiled, how, and for which GPUs",
        "tests/case.py": "inputs and right answers",
        f"tests/test_{name}.py": "compares the function with them",
        ".fourways.json": "which files `fourways package` may write anew: those that nobody has edited",
    }
    return fill(
        "README.md",
        name=name,
        summary=summary(face.case),
        example="\n".join(_example(face, name)),
        files="\n".join(f"| `{path}` | {what} |" for path, what in files.items()),
    )


def _example(face: Interface, name: str) -> list[str]:
    given, outs = arguments(face), [face.names[each] for each in face.allocated]
    imported = f"from {name} import {', '.join([*constants(face), name])}"
    if not outs:
        changed = ", ".join(face.names[each] for each in face.case.in_place)
        return [imported, "", f"# writes into {changed}, of any GPU library", wrapped(f"{name}(", given, ")")]
    out = f"out={outs[0]}" if len(outs) == 1 else f"out=({', '.join(outs)})"
    into = ["", "# into what is there, of any GPU library", wrapped(f"{name}(", [*given, out], ")")]
    if not face.optional:
        return [imported, *into]
    new = wrapped(f"{', '.join(outs)} = {name}(", given, ")")
    return [imported, "", "# CuPy arrays or PyTorch tensors: what comes back is of the same library", new, *into]
