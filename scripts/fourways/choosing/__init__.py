"""Choose a way for a program, by a model of its run time and by measurements.

A program that launches a kernel N more times after its first result takes

    start + import + context + build + load + first launch + N × max(launch, kernel)

The first six are the stages of a first result. `fourways time 1 --first` measures them in fresh processes that find
everything built. *launch* is the time that the host needs for a call. The same processes measure it, cold and warm, and
the smaller of the two medians counts, because a launch is the same in both. *kernel* is the time that the GPU needs for
a launch; you know or measure it. While the GPU computes, the host queues the next launch, so the longer of the two
times counts. The time for your data is left out, because it is the same in every way.

Three more costs are added:

- *cold*: the additional seconds of a process that finds nothing built. A module that is built ahead of time is shipped,
  so its users never pay this cost.
- *edit*: the seconds until an edited kernel is built. The book's numbers come from lesson 00, your own from a whole
  build.
- *spread*: the 10th to the 90th percentile of the start. A way whose range overlaps that of the best is "as good",
  because the next measurement may swap the two.

The numbers are those that the book recorded on its GPU, unless you give your own in the file that
`fourways time 1 --first --json first.json` writes.
"""

from fourways.choosing.answer import choose, table
from fourways.choosing.figure import figure
from fourways.choosing.model import Cost, parse_seconds, total
from fourways.choosing.results import ResultsError, costs, plug_in_cost, recorded
