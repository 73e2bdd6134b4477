"""A kernel of the reader's own, with a *case*: a Python file that says its arguments, its right answer and its launch.

Everything is said by name, and nothing is inferred. `fourways check --help` shows a case with all its names, and
`fourways package --help` what the name `derived` is for.
"""

from fourways.own_kernel.builders import BUILDERS, Source, on_a_gpu
from fourways.own_kernel.case import Case, Right, read
from fourways.own_kernel.file import CaseError
