"""The doctor: what a lesson can use on this machine, whether it fits together, and what to do if not."""

from fourways.doctor.checks import Finding, judge
from fourways.doctor.diagnosis import Diagnosis, diagnose, render
from fourways.doctor.inventory import Tool, newest_host_compiler, tools
