"""The book: today's lesson texts with the outputs of their recorded GPU runs, and pages made from code.

`python -m fourways.book commands` runs the examples on the commands' pages on this machine's GPU and keeps what they
give, `… commands time` those of one command; `… readme` makes the README's table and figure.
"""

from fourways.book.build import BookError, Page, build, merge
from fourways.book.commands import COMMANDS, Command, ExampleError, pages, record_example
from fourways.book.record import RecordingError, anonymous, anonymous_report, fingerprint, record
from fourways.book.results import reference as results_reference
from fourways.book.results import schema as results_schema
