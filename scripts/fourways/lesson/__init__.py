"""Lessons: read, run and export them, and load their ways as plain functions.

A lesson is a MyST notebook, `lessons/NN_slug.md`. The code in its cells is the code that is timed, checked and
recorded. This package holds no second copy of it.
"""

from fourways.lesson.exercises import exercises
from fourways.lesson.export import alone, export
from fourways.lesson.needs import load_ipython_extension, skip_reason
from fourways.lesson.notebook import Lesson, LessonError, all_lessons, find, kernel_file, lessons_and_pages, tags
from fourways.lesson.recorded import kernel_hashes, outputs, program_hashes, rows, unrecorded
from fourways.lesson.run import LessonRun, at_once, outcomes, run_all
from fourways.lesson.shown import Included, deeper, included, with_files
from fourways.lesson.ways import Target, collect, load, program, target
