"""A sixth way: the host way again, under another name. Fresh processes import this module, which registers it."""

from fourways.ways.host import Host
from fourways.ways.way import register


class Toy(Host):
    """NumPy arrays, by our own launcher."""

    name = "toy"
    label = "A toy"
    short = "Toy"
    colour = "#123456"
    dark_colour = "#ABCDEF"


TOY = register(Toy())
