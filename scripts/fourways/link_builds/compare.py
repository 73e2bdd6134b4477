"""A program of several translation units, linked in several builds side by side; checked and timed on a GPU."""

import functools
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fourways import building, checking, figures, kernels, measuring, sass, tables, toolchain
from fourways.case import Case, named_reference
from fourways.link_builds.builds import BUILDS, LinkingError, UnfitError, is_compiled, look_inside, unit_file
from fourways.ways import GPU_SIZE

_CALLS, _SLOPE, _SHIFT = 64, float(np.float32(0.99)), 0.5  # as in cpp/link
_PASSED = ("right", "the others' reference")
_UNSEEN = "; of a kernel in a compiled file it must be told which parameters it has, by a unit that declares it"


def reference(x: np.ndarray) -> np.ndarray:
    """Return the default program's right answer for float32 `x`: `x = 0.99 x + 0.5`, 64 times, in closed form.

    It is computed in float64 and rounded to float32.
    """
    power = _SLOPE**_CALLS
    return (power * x.astype(np.float64) + _SHIFT * (1 - power) / (1 - _SLOPE)).astype(np.float32)


def find_gpu(device: int | None) -> toolchain.Gpu | None:
    """Return the GPU of a CUDA device ordinal, or for None the first GPU if any. Raises ValueError without it."""
    gpus = toolchain.gpus()
    if device is None or 0 <= device < len(gpus):
        return gpus[device or 0] if gpus else None
    there = ", ".join(f"{number} ({gpu.name})" for number, gpu in enumerate(gpus)) or "none"
    raise ValueError(f"no CUDA device {device} here; there are: {there}")


def link_all(
    units: Sequence[Path | str] = (),
    entry: str = "apply_transform",
    archs: Sequence[str] = (),
    elements: int = GPU_SIZE,
    device: int | None = None,
    expected: str | None = None,
    builds: Sequence[str] = (),
    case: Path | None = None,
) -> list[tables.Row]:
    """Build a program by each of `builds` (default: all of `BUILDS`) for each architecture, run it, and return rows.

    `units` are files, or sources as strings (with a brace or a line end), by default the plug-in program. A file with
    an ending of `COMPILED` goes to the linker unchanged. `entry` is an `extern "C"` kernel of the units. `archs` are
    written "sm_90"; the default is the GPU's architecture, else sm_90.
    A row holds `build`, `arch`, `entry`, `compile_seconds` and `link_seconds` (host clock), the `bytes` of the cubin,
    `registers`, `inlined`, the number of `calls` left in the kernel, other `functions` left, and what the linker `said`
    if it printed anything. A failed build has `error`, and `unfit` if it cannot use such units.

    The GPU of ordinal `device` runs the code made for it, with the inputs that the file `case` (`case.Case`) makes for
    the size `elements`. `check` is "right" or says what is wrong. Only a right answer has `seconds` (device clock).
    `not_run` says why a program was not run. Outputs are restored before each sample and judged after the last one
    (`measuring.Judged`). The right answer comes from `expected` ("module.py:function" of the inputs), from the case, or
    for the default program from `reference`. Without any of them, the first successful build counts as right. NaN is
    never right.

    Raises ValueError for a missing GPU, and LinkingError if every build fails for every architecture. Its message is
    that of the LTO-IR link, which is the plainest.
    """
    gpu = find_gpu(device)
    if expected:
        named_reference(expected)  # raises before anything is built
    rows: list[tables.Row] = []
    with tempfile.TemporaryDirectory() as folder:
        plug_in = [kernels.root() / "cpp" / "link" / name for name in ("apply_transform.cu", "user_transform.cu")]
        paths = [unit_file(unit, number, Path(folder)) for number, unit in enumerate(units or plug_in, 1)]
        for arch in toolchain.architectures(archs or [gpu.arch if gpu else "sm_90"]):
            built = _build_all(builds or list(BUILDS), paths, entry, arch, Path(folder))
            rows += [row for row, _ in built]
            program = [(row, cubin) for row, cubin in built if cubin]
            loaded = _case(paths, entry, Path(folder), case, expected) if (gpu and program) or case else None
            why = _not_run(gpu, arch, loaded)
            for row, _ in program:
                row |= {"gpu": gpu.name, "compute_capability": gpu.compute_capability} if gpu else {}
                own = case.name if case and isinstance(loaded, Case) and loaded.has_reference else ""
                judge = expected or own or ("" if units else "NumPy") or program[0][0]["build"]
                row |= {"not_run": why} if why else {"reference": judge}
            if isinstance(loaded, Case) and not why:
                _run(program, loaded, elements, device or 0, not units)
    if all(row["error"] for row in rows):
        failed = sorted(rows, key=lambda row: ("unfit" in row, row["build"] != "LTO-IR, nvJitLink"))
        raise LinkingError(failed[0]["error"])
    return rows


def table(rows: Sequence[tables.Row]) -> tables.Table:
    """Show the rows of `link_all`; a failed build shows the line that says why."""
    archs = list(dict.fromkeys(row["arch"] for row in rows))
    columns: list[tables.Column] = [
        "build",
        *(["arch"] if len(archs) > 1 else []),
        "compile_seconds",
        "link_seconds",
        "bytes",
        "registers",
        ("call", _call_cell),
    ]
    if any("check" in row for row in rows):
        columns += [("kernel", "seconds"), "check"]
    notes = [f"{rows[0]['entry']} for {', '.join(archs)}."]
    notes += [f"GPU: {row['gpu']}, compute capability {row['compute_capability']}." for row in rows if "gpu" in row][:1]
    checked = [row for row in rows if "check" in row][:1]
    notes += [f"Checked against {row['reference']}, {row['elements']:,} elements." for row in checked]
    notes += dict.fromkeys(f"Not run: {row['not_run']}." for row in rows if "not_run" in row)
    notes += ["Compiled and linked by the host's clock, the kernel by the GPU's."]
    return tables.Table("link", rows, columns, " ".join(notes))


def inlining_table(rows: Sequence[tables.Row]) -> tables.Table:
    """Show the calls that each build leaves in the kernel, by architecture, from the rows of `link_all`."""
    archs = list(dict.fromkeys(row["arch"] for row in rows))
    calls = [
        {"build": build, "calls": {row["arch"]: _call_cell(row) for row in rows if row["build"] == build}}
        for build in dict.fromkeys(row["build"] for row in rows)
    ]
    columns: list[tables.Column] = ["build"]
    columns += [(arch, lambda row, arch=arch: row["calls"][arch]) for arch in archs]  # type: ignore[misc]
    return tables.Table("inlining", calls, columns, f"Calls left in {rows[0]['entry']}, read from its machine code.")


def problems(rows: Sequence[tables.Row]) -> list[str]:
    """Return a line or more for each build that failed or gave a wrong answer.

    A build that cannot use such units is no problem.
    """
    failed = [f"{row['build']}, {row['arch']}: {row['error']}" for row in rows if row["error"] and "unfit" not in row]
    wrong = [row for row in rows if row.get("check", "right") not in _PASSED]
    return failed + [f"{row['build']}, {row['arch']}: wrong answer: {row['check']}" for row in wrong]


def remarks(rows: Sequence[tables.Row]) -> list[str]:
    """Return the output of linkers that succeeded: a line or more for each build."""
    return [f"{row['build']}, {row['arch']}, printed: {row['said']}" for row in rows if row.get("said")]


def _call_cell(row: tables.Row) -> str:
    if row["error"]:
        lines = row["error"].splitlines()
        return next((line for line in lines if re.search("error|fatal", line)), lines[0])
    return "inlined" if row["inlined"] else f"{row['calls']} {'calls' if row['calls'] > 1 else 'call'} left"


def figure(rows: Sequence[tables.Row], title: str) -> Any:
    """Draw the rows of `link_all` as bars: the kernel's time if a GPU ran it, else the registers.

    For a single architecture without a GPU, also draw the bytes of the cubin and the seconds of the link.
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


def _case(paths: Sequence[Path], entry: str, folder: Path, case: Path | None, expected: str | None) -> Case | str:
    """Return the case that calls the kernel, or why the kernel's signature is unknown.

    Raises InputError for a case that does not fit the kernel.
    """
    sources = [path for path in paths if not is_compiled(path)]
    told = [path for path in sources if entry in kernels.parameters(kernels.text_of(path))]
    together = folder / "signature.cu"
    together.write_text("".join(f'#include "{path}"\n' for path in sources), encoding="utf-8")
    unit = told[0] if told else together
    try:
        signature = building.signatures(unit, [entry], [f"-I{path.parent}" for path in sources])[entry]
    except building.BuildError:
        unseen = _UNSEEN if any(map(is_compiled, paths)) else ""
        return f"the compiler finds no kernel {entry}{unseen}"
    return Case.load(unit, entry, case, expected, signature=signature)


def _not_run(gpu: toolchain.Gpu | None, arch: str, case: Case | str | None) -> str:
    """Return why the program for `arch` is not run, or ""."""
    if gpu is None:
        return "no GPU here"
    if not toolchain.runs_on({arch}, gpu.arch):
        return f"code for {arch} does not run on {gpu.arch}"
    return case if isinstance(case, str) else ""


def _run(program: Sequence[tuple[tables.Row, bytes]], case: Case, elements: int, device: int, is_default: bool) -> None:
    """Check and time each build (a row and a cubin); add `elements`, `check`, `clock` and `seconds` to the row."""
    import cupy

    try:
        toolchain.gpus()[device].require_room(elements)
        inputs = case.make_inputs(elements)
        expected: checking.Expected | None = {"y": reference(inputs[1])} if is_default else None
        expected = case.reference(*inputs) if case.has_reference else expected
        with cupy.cuda.Device(device):
            for row, cubin in program:
                launch, passed = _launcher(cubin, case), "right"
                if expected is None:
                    outputs = [checking.place("gpu", output) for output in case.blank_outputs(*inputs).values()]
                    launch(*(checking.place("gpu", value) for value in inputs), *outputs)
                    expected, passed = dict(zip(case.outputs, map(checking.fetch, outputs), strict=True)), _PASSED[1]
                problem = checking.verdict(launch, "gpu", inputs, expected, case.rtol, case.starts, case.atol)
                seconds = None
                if not problem:
                    judged = measuring.Judged("gpu", inputs, expected, case.rtol, case.starts, case.atol)
                    call = functools.partial(launch, *judged.values)
                    samples = measuring.device_seconds(call, before=judged.restore)
                    if wrong := judged.problem():
                        problem = f"after the last timed call {wrong}"
                    else:
                        seconds = tables.summary(samples)
                row |= {"elements": elements, "check": problem or passed, "clock": "device", "seconds": seconds}
    except MemoryError as error:
        raise LinkingError(f"{elements} elements do not fit", str(error), "take fewer: --elements") from None
    except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
        advice = f"for every grid, {case.entry} must stay inside its arrays"
        raise LinkingError(f"{case.entry} failed on the GPU", str(error), advice) from None


def _launcher(cubin: bytes, case: Case) -> Callable[..., None]:
    """Return the kernel in a cubin as a function of `(*case.make_inputs(size), *outputs)`."""
    import cupy

    module = cupy.cuda.function.Module()
    module.load(cubin)
    function = module.get_function(case.entry)

    def launch(*values: Any) -> None:
        grid, block, shared = case.launch_of(values)
        function(grid, block, case.arguments(values), shared_mem=shared)

    return launch
