"""The doctor: the tools that lessons can use on this machine, the problems between them, and the remedies."""

from fourways.doctor.diagnosis import diagnose, render
from fourways.doctor.inventory import newest_host_compiler
