"""The book: the lessons with the outputs of their recorded GPU runs, and pages that are generated from code.

`python -m fourways.book.readme` writes the README's table and figure, `python -m fourways.book.wasm` the kernel of
lesson 04 in WebAssembly, for which it needs clang.
"""

from fourways.book.build import assemble, build
from fourways.book.record import record
