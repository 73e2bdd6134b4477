"""Which way for which program: a model of the time that a program takes, fed by measurements.

A program that launches a kernel N more times after its first result takes

    start + import + context + build + load + first launch + N × max(launch, kernel)

The first six are the stages of a first result: what `fourways time 1 --first` measures in fresh processes that find
everything built. *launch* is what a call keeps the host busy, which these processes measure as well, cold and warm: of
their two medians the smaller one counts, because a launch is the same in both. *kernel* is how long the GPU works on
one, which you know or measure. While the GPU computes, the host queues the next launch, so the longer of the two
counts. What your data cost is left out: it is the same in every way.

Three more costs come on top. *cold*: what a process pays in addition that finds nothing built; a module that was built
ahead of time is shipped, so its users never pay that. *edit*: the seconds until an edited kernel is built, whoever
waits for them; the book's numbers are those of lesson 00, your own those of a whole build. *spread*: 10th to 90th
percentile of the start. A way whose range reaches that of the best is as good: the next measurement may swap them.

The numbers are the book's, as recorded on its GPU, unless you give your own: the file that `fourways time 1 --first
--json first.json` writes.
"""

from fourways.choosing.answer import choose, table
from fourways.choosing.figure import figure
from fourways.choosing.model import Cost, crossing, crossings, parse_seconds, total
from fourways.choosing.results import ResultsError, costs, plug_in_cost, recorded
