"""Judges of the lessons' exercises: they give feedback, and do not police.

Each returns "Right …", or "Not yet: …" with what came and what was expected. The lessons call them by the names below.
"""

from fourways.exercises import kernels, machines, values
from fourways.exercises.functions import same

doublify = profiles = generated = bindings = shipping = halos = texels = launches = costs = values
saxpy = sums = tiles = plates = plugins = filters = cases = kernels
workflows = clocks = streams = queues = machines
