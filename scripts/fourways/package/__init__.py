"""From a kernel and its case to a package that pip installs: a checked binding, its build, its tests.

`write` makes the folder of a package that needs nothing of this one; `binding` builds the same function for this
machine and keeps it, which is the way "pybind11" of a kernel of one's own.
"""

from fourways.package.binding import binding, build_alone, builder, cell
from fourways.package.case import Case, PackageError
from fourways.package.interface import Interface
from fourways.package.probe import interface
from fourways.package.project import check_folder, check_name, write
