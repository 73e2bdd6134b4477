"""The doctor: the tools that lessons can use on this machine, whether they work together, and what to do if not."""

from fourways.doctor.checks import newest_host_compiler
from fourways.doctor.diagnosis import diagnose
