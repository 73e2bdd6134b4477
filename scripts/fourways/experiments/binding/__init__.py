"""What lesson 05 builds and measures: a project with a pybind11 module, hostile calls, a call's costs, loops over time.

Building and hostile calls need a C++ compiler and nvcc, but no GPU, and so do the judges of the lesson's exercises.
"""

from fourways.experiments.binding.costs import counting_meanwhile, ladder, loops
from fourways.experiments.binding.exercises import check_built_for, check_fit
from fourways.experiments.binding.heat import Project
