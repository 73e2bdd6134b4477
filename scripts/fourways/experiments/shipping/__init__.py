"""What lesson 13 ships: code for several architectures, a wheel that holds it, a module that finds its libraries.

Loading and timing code need a GPU. Building, the tools' choice of an nvcc, the wheel, the loader and the judges of the
lesson's exercises need none.
"""

from fourways.experiments.shipping.codes import NEWER, attempt, code, first_loads, speeds
from fourways.experiments.shipping.exercises import check_pick, check_rpath
from fourways.experiments.shipping.wheels import Project, by_nvcc, find_runtime, which_file, which_nvcc
