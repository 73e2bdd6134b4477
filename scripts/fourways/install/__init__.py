"""PyCUDA built from source, because it has no wheels, and a folder of wheels for a machine without network."""

from fourways.install.pycuda import install_pycuda
from fourways.install.wheelhouse import wheelhouse
