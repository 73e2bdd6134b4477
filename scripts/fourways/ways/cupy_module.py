"""The code that the two ways through CuPy's `RawModule` share."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from fourways.kernels import KernelCase, encoding_of
from fourways.ways.way import (
    Stage,
    Way,
    identifiers,
    launching_cell,
    loading,
    name_expressions,
    nvcc_keeps_lines,
)

ALLOW = "kernel.max_dynamic_shared_size_bytes = shared"


class RawModule(Way):
    """A way whose cell makes a `cupy.RawModule`; its name is the backend's."""

    def cell(self, case: KernelCase) -> str:
        by_name = identifiers(case)
        structs = [by_name[each.name] for each in case.signature.parameters if each.kind == "struct"]
        # CuPy passes an array without dimensions by value
        given = [f"np.asarray({name})" if name in structs else name for name in by_name.values()]
        numpy = "\nimport numpy as np" if structs else ""
        text = f'Path({str(case.path)!r}).read_text(encoding="{encoding_of(case.path)}")'
        options = (f"-I{case.path.parent}", *case.options)
        head = f"""from pathlib import Path

import cupy{numpy}

module = cupy.RawModule(
    code={text}, backend={self.name!r}, options={options!r}{name_expressions(case)}
)
kernel = module.get_function({case.entry!r})"""
        call = f"kernel(grid, block, ({', '.join(given)},), shared_mem=shared)"
        return launching_cell(case, self, head, ALLOW, call)

    def mark_loads(self, stage: Stage) -> None:
        from cupy.cuda import compiler  # CuPy 14's compiler.py loads by `function.Module().load`

        class Module(compiler.function.Module):
            load = loading(compiler.function.Module.load, stage)

        compiler.function = SimpleNamespace(**vars(compiler.function) | {"Module": Module})

    def keep_sources(self) -> None:
        import tempfile

        import cupy

        tempfile.TemporaryDirectory = KeptFolder  # type: ignore  # CuPy 14 compiles in one
        nvcc_keeps_lines()
        for name in ("RawModule", "RawKernel"):
            setattr(cupy, name, with_source_lines(getattr(cupy, name)))


class KeptFolder:
    """`tempfile.TemporaryDirectory`, except that the folder and its files stay."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        import tempfile

        self.name = tempfile.mkdtemp()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *problem: object) -> None:
        """Leave the folder where it is."""

    cleanup = __exit__


def with_source_lines(build: Callable) -> Callable:
    """`cupy.RawModule` or `cupy.RawKernel` with one more option for NVRTC; nvcc has it from NVCC_APPEND_FLAGS."""

    def built(*arguments: Any, **named: Any) -> Any:
        named |= dict(zip(("code", "name", "options", "backend"), arguments, strict=False))
        if named.get("backend", "nvrtc") == "nvrtc":
            named["options"] = (*named.get("options", ()), "-lineinfo")
        return build(**named)

    return built
