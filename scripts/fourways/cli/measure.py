"""The commands that run a kernel's ways: `fourways check` and `fourways time`."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import typer

from fourways.cli import options

Row = dict[str, Any]  # as fourways.tables has it, which imports NumPy


def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="KERNELS", help="Lessons or kernels by number or name, or .cu files of your own."),
    ] = None,
    way: options.Ways = None,
    case: options.CaseFile = None,
    timeout: options.Timeout = 60,
    sanitizer: Annotated[
        Literal["thread", "address"] | None,
        typer.Option("--sanitize", help="`thread` or `address`: look for races, or for accesses outside of arrays."),
    ] = None,
    json_file: options.Json = None,
) -> None:
    """Check that every way gives the right answer at every awkward size, for the lessons named (default: all).

    `fourways check 1 --way host` checks lesson 01 on the CPU. Outputs are poisoned first, NaN fails.

    `fourways check my.cu --case my_case.py` checks a kernel of your own. Its case says the arguments, the right answer
    and, where wanted, the launch, all by name. For `amplify(const float *x, float *y, int n, float gain)`:

    ```python
    import numpy as np

    def arguments(size):  # None: the kernel only writes it
        x = np.linspace(-1, 1, size, dtype=np.float32)
        return {"x": x, "y": None, "n": np.int32(size), "gain": np.float32(1.5)}

    def reference(x, gain):  # takes what it names
        return {"y": gain * x}

    def launch(size, **arguments):  # this is the default
        return max(1, -(-size // 256)), 256  # grid, block[, shared bytes]
    ```

    A compiler compares the types first. A name that both functions return is an array that the kernel changes in place;
    `reference` changes a copy. A way that refuses the kernel is a row, "not built", and the others go on. Where needed,
    a case also says:

    ```python
    kernel = "scale<float, 4>"  # one of several, or a template's instance
    options = ("-DTAPS=8",)  # for the compilers
    constants = {"taps": np.ones(8, "f4")}  # for __constant__ variables
    rtol, atol, sizes = 1e-6, 1e-7, (1, 33, 99)  # sizes: what to check at
    def same(got, right): ...  # judges dictionaries, say, in any order
    ```

    `launch` may name the arguments that it needs: `launch(size, x)`. Answers may differ by `atol + rtol * abs(right)`.

    `fourways check my.cu --case my_case.py --sanitize thread` runs the kernel on the CPU and names the lines of a race
    between threads of a block or between blocks. `--sanitize address` names the lines that use an array beyond its
    ends. No GPU is needed.
    """
    from fourways import building, checking, lesson
    from fourways.kernels import InputError, NotThereError
    from fourways.ways import is_host, missing

    if sanitizer and not all(map(is_host, way or ())):
        raise typer.BadParameter("only the host way runs under a sanitizer", param_hint="--way")
    options.refuse_missing(way, missing)
    chosen: dict[Any, str] = {}  # the names in rows, by lesson, case, or the error that refuses a file
    for name in targets or [each.number for each in lesson.all_lessons()]:
        try:
            target = lesson.target(name, case, timeout)
            chosen[target] = name if target.case else target.name
        except NotThereError:  # before any work
            raise
        except (InputError, building.BuildError) as error:
            chosen[error] = name
    rows: list[Row] = []
    for number, (target, name) in enumerate(chosen.items(), 1):
        options.say(name, "bold")
        judged, is_lost = _judged(target, way, timeout, sanitizer)
        rows += [{"file": name, **row} for row in judged]
        options.keep(json_file, [checking.Outcomes(rows)])
        if is_lost:
            for later in [*chosen.values()][number:]:
                options.tell(f"{later}: not checked", "red")
            os._exit(1)  # where Python ends, CuPy and PyCUDA would each complain about the lost context
    if not sanitizer and any(is_host(row["way"]) and row["outcome"] == "right" for row in rows):
        options.console.print("Not looked for on the CPU: races, overruns of static shared memory (--sanitize).")
    good = ("right: ", "not run: ", "not built: ", "nothing was found: ")  # a wrong row begins with the kernel's name
    raise typer.Exit(0 if all((row["outcome"] + ": ").startswith(good) for row in rows) else 1)


def _judged(target: Any, way: Sequence[str] | None, timeout: int, sanitizer: str | None) -> tuple[Sequence[Row], bool]:
    """Check a target and print the result. Return the rows, and whether the GPU is lost. An error refuses its file."""
    from fourways import building, checking
    from fourways.kernels import InputError

    try:
        if isinstance(target, Exception):
            raise target
        return [_sanitized(target, sanitizer)] if sanitizer else _checked(target, way, timeout), False
    except checking.CheckFailure as failure:
        options.tell(failure, "red")
        rows = failure.rows or [{"way": "host", "sizes": 0, "outcome": str(failure)}]
        return rows, isinstance(failure, checking.GpuLost)
    except (InputError, building.BuildError, RuntimeError) as error:
        options.tell(error, "red")
        refused = "refused: " if isinstance(error, InputError | building.BuildError) else ""
        return [{"way": None, "sizes": 0, "outcome": f"{refused}{error}"}], False


def _checked(target: Any, way: Sequence[str] | None, timeout: int) -> Sequence[Row]:
    """Check the ways of a target and print the table. A kernel that runs on the CPU only is also compiled for a GPU."""
    from fourways import checking, own_kernel
    from fourways.ways import is_host

    with options.errors.status("compiling") as status:
        ways = _ways(target, way, lambda what: status.update(f"compiling {what}"))
    for name in target.case.unset if target.case else ():
        options.tell(f'{name} holds zeros: a case sets it by constants = {{"{name}": array}}', "yellow")
    table = checking.check(ways, timeout=timeout)
    options.console.print(table)
    if target.case and all(map(is_host, ways.runnable)):
        line, is_compiled = own_kernel.on_a_gpu(target.case.source)
        options.say(line)
        refusals = [why for way, why in ways.missing.items() if why.startswith("not built") and not is_host(way)]
        if refusals or not is_compiled:
            table.rows[0]["outcome"] = "no way on the GPU could be built" if is_compiled else line
            raise checking.CheckFailure(f"{target.name}: {table.rows[0]['outcome']}", table.rows)
    return table.rows


def _sanitized(target: Any, sanitizer: str) -> Row:
    from fourways import checking, host

    sizes = checking.search(lambda: _ways(target, ["host"]), sanitizer)
    looked = host.SEARCHES[sanitizer][1]
    at = f"at {len(sizes)} sizes, from {sizes[0]} to {sizes[-1]}" if sizes[1:] else f"at 1 size, {sizes[0]}"
    options.say(f"Nothing was found {at}.\nLooked for: {looked}.")
    return {"way": "host", "sizes": len(sizes), "outcome": f"nothing was found: {looked}"}


def time(
    kernel: options.Kernel,
    way: options.Ways = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", "--size", help="Elements: `2^20`, `1000,2000`, `2^10:2^28`. Default 2^26, on a CPU 2^22."
        ),
    ] = None,
    case: options.CaseFile = None,
    timeout: options.Timeout = 60,
    json_file: options.Json = None,
) -> None:
    """Time the ways of a kernel side by side: warm, with a cold L2 cache, and the two costs of a launch.

    `fourways time 1` times lesson 01. `fourways time 1 --sizes 2^10:2^28` times it at every doubling of the size, and a
    plain copy on the GPU with it.

    `fourways time my.cu --case my_case.py` times a kernel of your own, after a check at awkward sizes as by
    `fourways check`, whose help shows a case.

    A kernel with a wrong answer is not timed: each way is checked before the samples and after them.
    Every row names its clock: the GPU's (device) or the host's.
    """
    from fourways import checking, lesson, measuring
    from fourways.ways import missing

    with options.refusing("--sizes"):
        elements = options.parse_sizes(sizes) if sizes else []
    target = lesson.target(kernel, case, timeout)
    options.refuse_missing(way, missing)
    options.say(target.name, "bold")
    with options.errors.status("compiling") as status:
        ways = _ways(target, way, lambda what: status.update(f"compiling {what}"))
        if target.case:
            status.update("checking")
            try:
                checking.check(ways, timeout=timeout)
            except checking.CheckFailure as error:
                raise checking.CheckFailure(f"{error}\na wrong answer is not timed") from None
        for table in measuring.time_sizes(ways, elements, lambda text: status.update(f"timing {text}")):
            if table.rows:
                options.keep(json_file, [table])
    if not table.rows:
        raise RuntimeError(f"nothing was timed: {table.note.removeprefix('Not timed: ')}")
    options.console.print(table)


def _ways(target: Any, asked: Sequence[str] | None, say: Callable[[str], None] = lambda _: None) -> Any:
    """Build the ways asked for, or all ways of the target. Raises RuntimeError if one asked for cannot run here."""
    ways = target.ways(asked or (), say)
    options.refuse_missing(asked, ways.missing.get)
    return ways.only(asked or [*ways.functions, *ways.missing])
