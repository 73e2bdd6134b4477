"""What the page "Your own kernel" runs: ten kernels with their cases, mistakes in them, a package, and the exercise."""

from fourways.experiments.own_kernel.cases import LADDER, ladder, mistakes
from fourways.experiments.own_kernel.exercises import judge
from fourways.experiments.own_kernel.programs import install, run_tests, workbench
