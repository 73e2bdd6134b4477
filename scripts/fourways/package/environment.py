"""The environment that fills in the templates, and the names that the templates use themselves."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


IN_FUNCTION = _names("SimpleNamespace _empty _number _shape block float grid launch math operator out shared stream")
"""The names in the function of `__init__.py`: a parameter called like one of them gets an underscore."""
IN_TESTS = _names("TypeError _ case compare cupy expected np pytest right several size")
"""The names in the tests that call that function, with the same consequence."""
IN_CPP = _names(
    """block block_checked blocks cudaError_t cudaFuncAttributeMaxDynamicSharedMemorySize cudaFuncSetAttribute
    cudaGetLastError cudaStream_t dim3 double2 error float2 fourways grid grid_checked most on py shared std stream
    threads"""
)
"""The names in the functions of NAME.cpp and NAME.cu, with the same consequence."""
IN_MODULES = _names(
    """Any Array Callable OSError ImportError TypeError TypeVar ValueError bool dict getattr hasattr inspect int
    isinstance len list missing names str sys test_right tuple type
    arrays binding empty kernel number shape"""
)
"""Other names that no package can have: those of its modules, of its folders, and, without `_`, of its functions."""


def one_per_line(items: Iterable[object], indent: int) -> str:
    """The items to put between brackets, each on a line of its own and with a comma; empty without items."""
    lines = "".join(f"\n{' ' * (indent + 4)}{item}," for item in items)
    return f"{lines}\n{' ' * indent}" if lines else ""


ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
ENVIRONMENT.filters["one_per_line"] = one_per_line


def render(template: str, context: dict[str, Any]) -> str:
    """The text of a file."""
    return ENVIRONMENT.get_template(f"{template}.jinja").render(context)
