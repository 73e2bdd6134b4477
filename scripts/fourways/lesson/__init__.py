"""Lessons: read, run and export them, and load their ways as plain functions.

A lesson is a MyST notebook, `lessons/NN_slug.md`. The code in its cells is the code that is timed, checked and
recorded. This package holds no second copy of it.
"""

from fourways.lesson.exercises import exercises
from fourways.lesson.export import alone, export
from fourways.lesson.folds import asked, deeper
from fourways.lesson.needs import load_ipython_extension, skip_reason
from fourways.lesson.notebook import Lesson, all_lessons, find, kernel_file, lessons_and_pages, pages, tags
from fourways.lesson.recorded import BOOK, digest, kernel_hashes, outputs, rows, unrecorded
from fourways.lesson.result import LessonRun, outcomes
from fourways.lesson.run import RECORDS, Interrupted, at_once, run_all
from fourways.lesson.targets import Target, program, target
from fourways.lesson.ways import collect, load
