"""One program of several translation units, linked in several builds, side by side; checked and timed on a GPU."""

import functools
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, checking, figures, kernels, lesson, sass, tables, timing, toolchain
from fourways.linking.builds import (
    BUILDS,
    SIGNATURE,
    LinkingError,
    UnfitError,
    is_compiled,
    look_inside,
    takes_signature,
    unit_file,
)

_CALLS, _SLOPE, _SHIFT = 64, float(np.float32(0.99)), 0.5  # of cpp/link
_PASSED = ("right", "the others' reference")
_UNSEEN = "; of a kernel in a compiled file it must be told, by a unit that declares it"


def default_units() -> list[Path]:
    """The plug-in program: a library's kernel that calls `user_transform`, and a user's unit that defines it."""
    return [kernels.root() / "cpp" / "link" / name for name in ("apply_transform.cu", "user_transform.cu")]


def reference(x: np.ndarray) -> np.ndarray:
    """What the default program must compute of float32 `x`: 64 times `0.99 x + 0.5`, as a closed form in float64."""
    power = _SLOPE**_CALLS
    return (power * x.astype(np.float64) + _SHIFT * (1 - power) / (1 - _SLOPE)).astype(np.float32)


def find_gpu(device: int | None) -> toolchain.Gpu | None:
    """The GPU of this CUDA device ordinal; for None the first, if there is any. Raises ValueError if it is missing."""
    gpus = toolchain.gpus()
    if device is None or 0 <= device < len(gpus):
        return gpus[device or 0] if gpus else None
    there = ", ".join(f"{number} ({gpu.name})" for number, gpu in enumerate(gpus)) or "none"
    raise ValueError(f"no CUDA device {device} here; there are: {there}")


def link_all(
    units: Sequence[Path | str] = (),
    entry: str = "apply_transform",
    archs: Sequence[str] = (),
    elements: int = lesson.GPU_SIZE,
    device: int | None = None,
    expected: str | None = None,
    builds: Sequence[str] = (),
) -> list[tables.Row]:
    """Build the program in every way of `BUILDS`, or in those named, for each architecture: a row each; run it.

    `units` are files, or sources as strings (what holds a brace or a line end is a source); default: `default_units()`.
    A file that ends as `COMPILED` says goes to the linker as it is. `entry` is an `extern "C"` kernel of theirs;
    `archs` as "sm_90", default: that of the GPU, else sm_90.
    A row holds `build`, `arch`, `entry`, `compile_seconds` and `link_seconds` (host clock), `bytes` of the cubin,
    `registers`, `inlined`, the number of `calls` left in the kernel, `functions` left beside it, and what the linker
    `said` if it printed anything; or `error`, with `unfit` where this build cannot use such units.

    The GPU of ordinal `device` runs code made for it if the kernel's parameters are `SIGNATURE`, on `elements`
    floats: `check` is "right" or what is wrong, and only a right answer has `seconds` (device clock); else `not_run`
    says why. The right answer is that of `expected`, "module.py:function" of the NumPy array x; of the default program
    `reference`; of other units without `expected` what the first build computes that could be made, one source where
    that is asked for. NaN is never right.

    Raises ValueError for a GPU that is not there, and LinkingError if no build succeeds for any architecture, in the
    words of the LTO-IR link, which are the plainest.
    """
    gpu = find_gpu(device)
    answer = lesson.named_reference(expected) if expected else None if units else reference
    against = expected or ("" if units else "NumPy")
    rows: list[tables.Row] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [unit_file(unit, number, Path(folder)) for number, unit in enumerate(units or default_units(), 1)]
        for arch in toolchain.architectures(archs or [gpu.arch if gpu else "sm_90"]):
            built = _build_all(builds or list(BUILDS), paths, entry, arch, Path(folder))
            rows += [row for row, _ in built]
            program = [(row, cubin) for row, cubin in built if cubin]
            why = _not_run(gpu, paths, entry, arch, Path(folder))
            for row, _ in program:
                row |= {"gpu": gpu.name, "compute_capability": gpu.compute_capability} if gpu else {}
                row |= {"not_run": why} if why else {"reference": against or program[0][0]["build"]}
            if program and not why:
                _run(program, entry, elements, device or 0, answer)
    if all(row["error"] for row in rows):
        failed = sorted(rows, key=lambda row: ("unfit" in row, row["build"] != "LTO-IR, nvJitLink"))
        raise LinkingError(failed[0]["error"])
    return rows


def table(rows: Sequence[tables.Row]) -> tables.Table:
    """The rows of `link_all`; a build that failed shows the line that says why."""
    archs = list(dict.fromkeys(row["arch"] for row in rows))
    columns: list[tables.Column] = [
        ("build", lambda row: row["build"]),
        ("arch", lambda row: row["arch"]),
        ("compile", lambda row: tables.seconds(row.get("compile_seconds"))),
        ("link", lambda row: tables.seconds(row.get("link_seconds"))),
        ("bytes", lambda row: f"{row['bytes']:,}" if "bytes" in row else ""),
        ("registers", lambda row: str(row.get("registers", ""))),
        ("call", _call_cell),
        ("kernel", lambda row: tables.seconds(row["seconds"]["median"]) if row.get("seconds") else ""),
        ("check", lambda row: row.get("check", "")),
    ]
    unused = {"arch"} if len(archs) == 1 else set()
    unused |= set() if any("check" in row for row in rows) else {"kernel", "check"}
    notes = [f"{rows[0]['entry']} for {', '.join(archs)}."]
    notes += [f"GPU: {row['gpu']}, compute capability {row['compute_capability']}." for row in rows if "gpu" in row][:1]
    notes += [f"Checked against {row['reference']}, {row['elements']:,} floats." for row in rows if "check" in row][:1]
    notes += dict.fromkeys(f"Not run: {row['not_run']}." for row in rows if "not_run" in row)
    notes += ["Compiled and linked by the host's clock, the kernel by the GPU's."]
    return tables.Table("link", rows, [column for column in columns if column[0] not in unused], " ".join(notes))


def inlining_table(rows: Sequence[tables.Row]) -> tables.Table:
    """Of the rows of `link_all`: the calls that each build leaves in the kernel, by architecture."""
    archs = list(dict.fromkeys(row["arch"] for row in rows))
    calls = [
        {"build": build, "calls": {row["arch"]: _call_cell(row) for row in rows if row["build"] == build}}
        for build in dict.fromkeys(row["build"] for row in rows)
    ]
    columns: list[tables.Column] = [("build", lambda row: row["build"])]
    columns += [(arch, lambda row, arch=arch: row["calls"][arch]) for arch in archs]  # type: ignore[misc]
    return tables.Table("inlining", calls, columns, f"Calls left in {rows[0]['entry']}, read from its machine code.")


def problems(rows: Sequence[tables.Row]) -> list[str]:
    """What went wrong: a line or more for each build that failed or whose answer was not right.

    A build that cannot use such units is none of them.
    """
    failed = [f"{row['build']}, {row['arch']}: {row['error']}" for row in rows if row["error"] and "unfit" not in row]
    wrong = [row for row in rows if row.get("check", "right") not in _PASSED]
    return failed + [f"{row['build']}, {row['arch']}: wrong answer: {row['check']}" for row in wrong]


def remarks(rows: Sequence[tables.Row]) -> list[str]:
    """What the linkers printed although they linked: a line or more for each build."""
    return [f"{row['build']}, {row['arch']}, printed: {row['said']}" for row in rows if row.get("said")]


def _call_cell(row: tables.Row) -> str:
    if row["error"]:
        lines = row["error"].splitlines()
        return next((line for line in lines if re.search("error|fatal", line)), lines[0])
    return "inlined" if row["inlined"] else f"{row['calls']} call{'s' * (row['calls'] > 1)} left"


def figure(rows: Sequence[tables.Row], title: str) -> Any:
    """The rows of `link_all` as a figure: the kernel's time where a GPU ran it, else what is known without one.

    That is registers, bytes and link seconds for one architecture, registers for several.
    """
    built = [row for row in rows if not row["error"]]
    one_arch = len({row["arch"] for row in built}) == 1
    panels: dict[str, dict[str, float]] = defaultdict(dict)
    colours = {}
    for row in built:
        bar = f"{row['build']}: {_call_cell(row)}"
        colours[bar] = figures.STAGE_COLOURS[3 if row["inlined"] else 4]
        measures = {"registers a thread": row["registers"]}
        if row.get("seconds"):
            measures = {"kernel, device clock": row["seconds"]["median"]}
        elif one_arch:
            measures |= {"bytes of the cubin": row["bytes"], "link, host clock": row["link_seconds"]}
        for name, value in measures.items():
            if value is not None:
                panels[f"{row['arch']}: {name}"][bar] = value
    show = lambda value: f"{value:,}" if isinstance(value, int) else tables.seconds(value)  # noqa: E731
    return figures.bars(panels, show, colours, title)


def _build_all(
    names: Sequence[str], paths: Sequence[Path], entry: str, arch: str, folder: Path
) -> list[tuple[tables.Row, bytes]]:
    built = []
    for name in names:
        row: tables.Row = {"build": name, "arch": arch, "entry": entry, "error": None}
        cubin = b""
        try:
            cubin, row["compile_seconds"], row["link_seconds"], said = BUILDS[name](paths, arch, folder)
            row |= {"said": said} if said else {}
            row |= {"bytes": len(cubin)} | look_inside(cubin, entry)
        except (building.BuildError, sass.SassError, FileNotFoundError) as error:
            row |= {"error": str(error)} | ({"unfit": True} if isinstance(error, UnfitError) else {})
            cubin = b""
        built.append((row, cubin))
    return built


def _not_run(gpu: toolchain.Gpu | None, paths: Sequence[Path], entry: str, arch: str, folder: Path) -> str:
    """Why the program for `arch` is not run, or ""."""
    if gpu is None:
        return "no GPU here"
    if not toolchain.runs_on({arch}, gpu.arch):
        return f"code for {arch} does not run on {gpu.arch}"
    if not takes_signature(paths, entry, arch, folder):
        return f"the compiler does not take {entry} for {entry}{SIGNATURE}" + _UNSEEN * any(map(is_compiled, paths))
    return ""


def _run(
    program: Sequence[tuple[tables.Row, bytes]],
    entry: str,
    elements: int,
    device: int,
    answer: Callable[[np.ndarray], np.ndarray] | None,
) -> None:
    """Check and time each build, a row and a cubin; adds `elements`, `check`, `clock` and `seconds` to the row."""
    import cupy

    try:
        toolchain.gpus()[device].require_room(elements)
        x = np.random.default_rng(8).random(elements, np.float32)
        expected = answer(x) if answer else None
        with cupy.cuda.Device(device):
            for row, cubin in program:
                launch = _launcher(cubin, entry)
                arrays = cupy.asarray(x), cupy.full(elements, cupy.nan, cupy.float32)
                passed = "right"
                if expected is None:
                    launch(*arrays)
                    expected, passed = checking.fetch(arrays[1]), _PASSED[1]
                problem = checking.verdict(launch, "gpu", (x,), expected, lesson.Case.rtol)
                seconds = None if problem else tables.summary(timing.device_seconds(functools.partial(launch, *arrays)))
                row |= {"elements": elements, "check": problem or passed, "clock": "device", "seconds": seconds}
    except MemoryError as error:
        raise LinkingError(f"{elements} elements do not fit", str(error), "take fewer: --elements") from None
    except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
        advice = f"for every grid, {entry} must stay inside the n elements of x and of y"
        raise LinkingError(f"{entry} failed on the GPU", str(error), advice) from None


def _launcher(cubin: bytes, entry: str) -> Callable[[Any, Any], None]:
    import cupy

    module = cupy.cuda.function.Module()
    module.load(cubin)
    function = module.get_function(entry)

    def launch(x: Any, y: Any) -> None:
        function((-(-x.size // 256),), (256,), (x, y, np.int64(x.size)))

    return launch
