"""Make a package that pip installs of a kernel and its case: a checked binding, its build, its tests.

`write` makes the folder of a package that needs nothing of this one; `kept_module` builds the same package for
this machine and keeps it, for the way "pybind11" of a user's kernel.
"""

from fourways.package.binding import build_alone, cell, kept_folder, kept_module
from fourways.package.project import check_folder, check_name, write
