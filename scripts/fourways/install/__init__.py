"""PyCUDA built from source, because it has no wheels, and a folder of wheels for a machine without network."""

from fourways.install.pip import InstallError, find_python
from fourways.install.pycuda import PYCUDA, PYCUDA_SHA256, build_pycuda, install_pycuda
from fourways.install.wheelhouse import read_lock, wheelhouse
