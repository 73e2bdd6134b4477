"""The class `Way`, and the table of all ways; each module of this package registers one."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from fourways import figures
from fourways.kernels import KernelCase, safe_name

# This module and those of the ways import only the standard library, because the timed processes import them.

Stage = Callable[[str], Any]
"""A block of a process by its name: `with stage("build"): ...` may time it, or name it for a profiler."""


class Way(ABC):
    """One way from Python to a kernel. A module of this package defines a subclass and registers one object of it."""

    name: ClassVar[str]
    """Its name in tags, options and tables: `nvrtc`; a lesson's function is `<kernel>_nvrtc`, its cell `way-nvrtc`."""
    label: ClassVar[str]
    """Its name in advice."""
    short: ClassVar[str]
    """Its name on the book's tabs."""
    colour: ClassVar[str]
    """Its colour in all figures. Its contrast with a white page is at least 3 to 1."""
    dark_colour: ClassVar[str]
    """Its colour on a dark page."""
    needs: ClassVar[tuple[str, ...]]
    """The tools and packages that it needs, as `toolchain.missing` names them."""
    case_needs: ClassVar[tuple[str, ...] | None] = None
    """The same for a user's kernel, where it differs."""
    on_host: ClassVar[bool] = False
    """Whether it computes on NumPy arrays, without a GPU."""
    is_shipped_built: ClassVar[bool] = False
    """Whether users get machine code, so that no process of theirs compiles."""
    has_wheels: ClassVar[bool] = True
    """Whether pip installs its library without a compiler."""
    loads_cubins: ClassVar[bool] = False
    """Whether its cell differs in one word for a cubin, so that its start without the build is a cubin's."""
    takes_templates: ClassVar[bool] = False
    """Whether it finds the instance of a template by its name."""
    has_own_streams: ClassVar[bool] = False
    """Whether its launches take streams of its own library, and none of CuPy's."""
    import_stage: ClassVar[str] = "import"
    """The stage of a first result to which the imports of its cell belong."""
    added_options: ClassVar[tuple[str, ...]] = ()
    """The options that CuPy's `RawModule` adds for the compiler."""

    @property
    def compiles_with(self) -> str:
        """The compiler that users' machines need: "nvcc", "nvrtc" or "none"."""
        if self.is_shipped_built:
            return "none"
        return "nvcc" if "nvcc" in self.needs else "nvrtc"

    @abstractmethod
    def cell(self, case: KernelCase) -> str:
        """The text that defines `function_name(case, way)`: `(size, *inputs, *outputs)`, all as the case gives them.

        A cell that launches with a grid uses `launch`, of the case.
        """

    def function(self, case: KernelCase) -> Callable[..., None]:
        """Compile the kernel and return the function that the cell defines. Raises what the way's compiler raises."""
        from fourways import toolchain

        toolchain.activate()
        return self.executed(case, {"launch": case.launch})

    def executed(self, case: KernelCase, namespace: dict[str, Any]) -> Callable[..., None]:
        """Execute the cell in a namespace, and return its function."""
        exec(compile(self.cell(case), f"<{case.path.name}, {self.name}>", "exec"), namespace)
        return namespace[function_name(case, self)]

    def build_ahead(self, kernel: KernelCase | str, folder: Path) -> float | None:
        """Build in `folder` the module that a process finds built, and return the seconds; None if there is none.

        `kernel` is a case, or the name of a lesson's kernel.
        """
        return None

    def prepare(self, kernel: KernelCase | str) -> Path | None:
        """Build and keep the module that a profiler should not see built, with source lines; return its folder.

        None where each process builds the kernel itself.
        """
        return None

    def mark_loads(self, stage: Stage) -> None:
        """Put the call that hands machine code to the driver into the stage `load` from now on."""
        return None

    def keep_sources(self) -> None:
        """Compile with source lines from now on, and leave the compiled text in `tempfile.tempdir`."""
        return None


WAYS: dict[str, Way] = {}
"""The ways by name, in the order of all tables."""


def register(way: Way) -> Way:
    """Add a way to those of every command, table and figure; it replaces one of the same name."""
    WAYS[way.name] = way
    figures.COLOURS[way.name] = way.colour
    return way


def missing(name: str, of_case: bool = False) -> str | None:
    """The reason why a way cannot run here, with the remedy, or None. `of_case` asks about a kernel of the user's own.

    Raises ValueError for a name that no way has.
    """
    from fourways import toolchain

    if name not in WAYS:
        raise ValueError(f"no way {name!r}; there are: {', '.join(WAYS)}")
    way = WAYS[name]
    needs = (way.case_needs if of_case else None) or way.needs
    return next((reason for need in needs if (reason := toolchain.missing(need))), None)


def nvcc_keeps_lines() -> None:
    """Make nvcc compile with source lines from now on."""
    os.environ["NVCC_APPEND_FLAGS"] = f"{os.environ.get('NVCC_APPEND_FLAGS', '')} -lineinfo"


def loading(function: Callable, stage: Stage) -> Callable:
    """Wrap a function so that its calls are in the stage `load`."""

    def staged(*args: Any, **kwargs: Any) -> Any:
        with stage("load"):
            return function(*args, **kwargs)

    return staged


def function_name(case: KernelCase, way: Way) -> str:
    """The name `<entry>_<way>`, with `_` for each sign that no name may hold, as in a template's instance."""
    return f"{''.join(sign if sign.isalnum() else '_' for sign in case.entry)}_{way.name}"


_TAKEN = {"kernel", "launch", "grid", "block", "shared", "module", "cupy", "host", "np", "driver", "packed", "int"}


def identifiers(case: KernelCase) -> Mapping[str, str]:
    """A Python name for each parameter of the kernel: its own, unless that has a meaning in a cell."""
    return {each.name: safe_name(each.name, _TAKEN) for each in case.signature.parameters}


def name_expressions(case: KernelCase) -> str:
    """The argument of `RawModule` that makes it find an instance of a template, or a kernel in a namespace."""
    return f", name_expressions=({case.entry!r},)" if "<" in case.entry or "::" in case.entry else ""


def launching_cell(case: KernelCase, way: Way, head: str, allow: str, call: str) -> str:
    """The text of a cell that launches: `head`, then a function of the grid, with `call` as its last line.

    `allow` is the statement that lets a block have more shared memory than it gets unasked.
    """
    names = identifiers(case)
    size = names[case.size] if case.size else "_" if "size" in names else "size"
    before = [f"{names[name]}_before" if name in case.in_place else names[name] for name in case.names]
    launched = [before[case.names.index(name)] for name in case.launch_inputs]
    taken = ", ".join([size, *before, *(names[name] for name in case.outputs)])
    inputs = "".join(f", {each}" for each in launched)
    body = [f"grid, block, shared = launch(int({size}){inputs})", call]
    if case.has_shared:
        body[1:1] = ["if shared > 48 * 1024:  # more than a block gets unasked", f"    {allow}"]
    lines = "".join(f"\n    {line}" for line in body)
    return f"{head}\n\n\ndef {function_name(case, way)}({taken}):{lines}\n"


def launch_text(case: KernelCase) -> str:
    """The text of the `launch` that a cell uses: the default, or one that takes the case's file for a module beside."""
    if not case.has_launch or not case.file:
        return "def launch(size):\n    return (max(1, -(-size // 256)),), (256,), 0  # grid, block, shared bytes\n"
    taken = ", ".join(["size", *(identifiers(case)[name] for name in case.launch_inputs)])
    return f"""import {case.file.stem}


def launch({taken}):
    grid, block, shared = (*{case.file.stem}.launch({taken}), 0)[:3]
    grid, block = (each if isinstance(each, tuple) else (each,) for each in (grid, block))
    return grid, block, shared
"""
