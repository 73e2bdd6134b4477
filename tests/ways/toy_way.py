"""A sixth way: the host way again, under another name. Fresh processes import this module, which registers it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fourways.ways.host import Host
from fourways.ways.way import register


class Toy(Host):
    """NumPy arrays, by our own launcher; its machine code is nvcc's."""

    name = "toy"
    label = "A toy"
    short = "Toy"
    colour = "#123456"
    dark_colour = "#ABCDEF"
    recipe = ("nvcc", ("-DTOY=1",))

    def make(self, path: Path, arch: str, options: Sequence[str], folder: Path) -> Any:  # type: ignore[override]
        """Build as `fourways build` asks."""
        from fourways import building

        built = building.build(path, "nvcc", arch, options=options)
        missing = {"cached": "a toy has no cache"}
        return building.Made([built.seconds], [], {"cubin": len(built.code)}, built.resources, missing)


TOY = register(Toy())
