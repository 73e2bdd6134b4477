"""Grading: the answers in handed-in notebooks and kernel files, each judged in a fresh process with limits.

A notebook that `fourways export` wrote names its exercises by the ids of their cells. An answer runs after the lesson's
own cells, not after those of the notebook, and the lesson's own check judges it.
"""

from fourways.grading.grade import Limits, grade, handed_in
