"""The book: the lessons with the outputs of their recorded GPU runs, and pages that are generated from code.

`python -m fourways.book readme` writes the README's table and figure, `… wasm` the kernel of lesson 04 in WebAssembly,
for which it needs clang, and `… architectures` what the compilers say of each lesson for each architecture.
"""

from fourways.book.build import assemble, build
from fourways.book.record import RecordingError, fingerprint, record
from fourways.book.release import release
from fourways.book.slides import deck
