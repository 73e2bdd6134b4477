"""The doctor: the tools that lessons can use on this machine, the problems between them, and the remedies."""

from fourways.doctor.checks import Finding, judge
from fourways.doctor.diagnosis import Diagnosis, diagnose, render
from fourways.doctor.inventory import Tool, newest_host_compiler, tools
