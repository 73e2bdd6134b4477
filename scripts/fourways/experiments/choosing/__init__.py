"""Which way for which program: constraints decide first, and then a model of the time, fed by measurements.

A *situation* says who calls the kernel, when its text is known, what may compile on the users' machines, which GPUs,
Pythons and systems they have, and how many start at once. It rules candidates out, each for a reason that names a
lesson. The candidates are the ways, a cubin that CuPy loads, and LTO-IR that is linked at run time.

For those that are left, a program that launches a kernel N more times after its first result takes

    start + import + context + build + load + first launch + N × max(launch, kernel)

The first six are the stages of a first result, from fresh processes that find everything built. *launch* is the time
that the host needs for a call, from a long loop in one process. `fourways time 1 --first` measures both. *kernel* is
the time that the GPU needs for a launch; you know or measure it. While the GPU computes, the host queues the next
launch, so the longer of the two times counts. The time for your data is left out, because it is the same in every way.

Three more costs are added:

- *cold*: the additional seconds of a process that finds nothing built. A module that is built ahead of time is shipped,
  so its users never pay this cost. With several machines, each of them pays it.
- *edit*: the seconds from an edited kernel to its next result, in the loop that the way has: in the running process, or
  by a build and a new process. The book's numbers come from lesson 00, your own from a whole build.
- *spread*: the 10th to the 90th percentile of the start and of a launch. Where two ranges overlap there is "no
  difference", because the next measurement may swap the two ways.

Of the candidates that do not differ from the fastest, or by less than a minute a day, the advice takes the one with the
fewest parts: a build before it is shipped, a wheel for each Python and system, or a compiler on each machine is a part.

The numbers are those that lessons 00 and 01 recorded on the book's GPU.
"""

from fourways.experiments.choosing.advice import advise
from fourways.experiments.choosing.answer import choose
from fourways.experiments.choosing.figure import figure
from fourways.experiments.choosing.model import Cost
from fourways.experiments.choosing.results import costs, recorded
from fourways.experiments.choosing.situation import Situation
from fourways.experiments.choosing.tree import tree
