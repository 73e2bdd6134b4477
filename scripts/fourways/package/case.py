"""What a package asks of a case: `case.Case` has it, and any other object that does will serve."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fourways.kernels import Signature


class PackageError(RuntimeError):
    """No package can be made of this case, or none can be built or written. The message says what to mend."""


class Case(Protocol):
    """A kernel with its inputs, its right answers and its launch, as `case.Case`.

    `make_inputs(size)` gives the size and the inputs `names`; `reference` of them gives the `outputs` by name. `launch`
    takes the size and the inputs `launch_inputs`.
    """

    path: Path
    source: str
    entry: str
    file: Path | None
    options: tuple[str, ...]
    rtol: float
    atol: float
    sizes: tuple[int, ...]
    size: str | None
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    in_place: tuple[str, ...]
    has_launch: bool
    launch_inputs: tuple[str, ...]

    @property
    def signature(self) -> Signature: ...
    def launch(self, size: int, *inputs: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]: ...
    def make_inputs(self, size: int) -> tuple: ...
    def reference(self, size: int, *inputs: Any) -> dict[str, np.ndarray]: ...
