"""The ways from Python to a kernel, and the functions of one kernel in several ways."""

from fourways.ways.functions import GPU_SIZE, HOST_SIZE, Ways, is_host
from fourways.ways.table import WAYS, Way, missing
