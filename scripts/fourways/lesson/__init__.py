"""Lessons: read, run, exported; their ways as plain functions; kernels of your own as cases beside them.

A lesson is a MyST notebook, `lessons/NN_slug.md`. The code in its cells is the code that is timed, checked and
recorded: nothing here holds a second copy of a way.
"""

from fourways.lesson.case import Case, signature_of
from fourways.lesson.case_file import named_reference
from fourways.lesson.case_ways import cell, launch_text
from fourways.lesson.export import ExportError, export
from fourways.lesson.folds import asked, deeper, questions
from fourways.lesson.for_gpu import asks_for_gpu, refused_for_gpu
from fourways.lesson.length import FORMULA, Length, length
from fourways.lesson.meant import lesson_or_case
from fourways.lesson.needs import load_ipython_extension, skip_reason
from fourways.lesson.notebook import Lesson, LessonError, NotThereError, all_lessons, find, kernel_file, pages, tags
from fourways.lesson.nvtx import name_cells
from fourways.lesson.recorded import BOOK
from fourways.lesson.run import Interrupted, LessonRun, at_once, outcomes, run, run_all
from fourways.lesson.sanitize import LOOKS_FOR, SANITIZERS, finding, sanitizing
from fourways.lesson.skeleton import skeleton
from fourways.lesson.task import stand_alone, task
from fourways.lesson.ways import GPU_SIZE, HOST_SIZE, WAYS, Ways, collect, is_host, load, side_by_side
