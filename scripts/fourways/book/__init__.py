"""The book: the lessons with the outputs of their recorded GPU runs, and pages that are generated from code.

`python -m fourways.book commands` runs the examples of the commands' pages on this machine's GPU and records their
results; `… commands time` does so for one command. `… readme` writes the README's table and figure, and
`… wasm` the kernel of lesson 04 in WebAssembly, for which it needs clang.
"""

from fourways.book.build import assemble, build
from fourways.book.commands import pages
from fourways.book.record import RecordingError, record
