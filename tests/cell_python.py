"""The Python that IPython makes of a cell, whose lines may begin with `!` or `%`."""

import ast

from IPython.core.inputtransformer2 import TransformerManager


def tree(source: str) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(source))
