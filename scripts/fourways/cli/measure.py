"""The commands that run a kernel's ways: `fourways check` and `fourways time`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer

from fourways.cli import options

Row = dict[str, Any]  # as fourways.tables has it, which imports NumPy


def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="KERNELS", help="Lessons or kernels by number or name, or .cu files of your own."),
    ] = None,
    way: options.Ways = None,
    entry: options.Entry = None,
    case: options.CaseFile = None,
    reference: options.Reference = None,
    timeout: options.Timeout = 60,
    sanitizer: Annotated[
        str | None,
        typer.Option("--sanitize", help="`thread` or `address`: look for races, or for accesses outside of arrays."),
    ] = None,
    json_file: options.Json = None,
) -> None:
    """Check that every way gives the right answer at every awkward size, for the lessons named (default: all).

    `fourways check 1 --way host` checks lesson 01 on the CPU. Outputs are poisoned first, NaN fails.

    `fourways check my.cu --case my_case.py` checks a kernel of your own. The case gives the inputs (arrays, numbers,
    structs) and the right answer; `fourways case my.cu` begins it for you. Without a case, arrays are random and of one
    size, numbers are 1, structs are all zeros, and the host way gives the right answer.

    `fourways check a.cu b.cu --case my_case.py --json rows.json` checks several files by one case. If a file cannot be
    checked, its row says why, and the other files are checked.

    `fourways check my.cu --sanitize thread` runs the kernel on the CPU and names the lines of a race between threads of
    a block or between blocks. `--sanitize address` names the lines that use an array beyond its ends. No GPU is needed.
    """
    from fourways import building, checking, host, lesson
    from fourways.kernels import InputError, NotThereError
    from fourways.ways import WAYS, is_host, missing

    options.one_of(way, tuple(WAYS), "--way")
    if sanitizer:
        options.one_of([sanitizer], tuple(host.SEARCHES), "--sanitize")
        if not all(map(is_host, way or ())):
            raise typer.BadParameter("only the host way runs under a sanitizer", param_hint="--way")
    _refuse_missing(way, missing)
    chosen: dict[Any, str] = {}  # the names in rows, by lesson, case, or the error that refuses a file
    for name in targets or [each.number for each in lesson.all_lessons()]:
        try:
            target = options.target(name, entry, case, reference, timeout)
            chosen[target] = target.slug if isinstance(target, lesson.Lesson) else name
        except NotThereError:  # before any work
            raise
        except (InputError, building.BuildError) as error:
            chosen[error] = name
    rows: list[Row] = []
    with options.keeping(json_file) as kept:
        for target, name in chosen.items():
            options.say(name, "bold")
            rows += [{"file": name, **row} for row in _judged(target, way, timeout, sanitizer)]
            kept[:] = [checking.outcomes(rows)]
    if not sanitizer and any(is_host(row["way"]) and row["outcome"] == "right" for row in rows):
        options.console.print("Not looked for on the CPU: races, overruns of static shared memory (--sanitize).")
    good = ("right", "not run", "nothing was found")
    raise typer.Exit(0 if all(row["outcome"].startswith(good) for row in rows) else 1)


def _judged(target: Any, way: Sequence[str] | None, timeout: int, sanitizer: str | None) -> Sequence[Row]:
    """Check a lesson or a case, print the result, and return the rows. An error as `target` refuses its file."""
    from fourways import building, checking
    from fourways.kernels import InputError

    try:
        if isinstance(target, Exception):
            raise target
        return [_sanitized(target, sanitizer)] if sanitizer else _checked(target, way, timeout)
    except checking.CheckFailure as failure:
        options.tell(failure, "red")
        return failure.rows or [{"way": "host", "sizes": 0, "outcome": str(failure)}]
    except (InputError, building.BuildError, RuntimeError) as error:
        options.tell(error, "red")
        refused = "refused: " if isinstance(error, InputError | building.BuildError) else ""
        return [{"way": None, "sizes": 0, "outcome": f"{refused}{error}"}]


def _checked(target: Any, way: Sequence[str] | None, timeout: int) -> Sequence[Row]:
    """Check the ways of a target and print the table. A kernel that runs on the CPU only is also compiled for a GPU."""
    from fourways import checking
    from fourways.case import Case, on_a_gpu
    from fourways.ways import is_host

    with options.errors.status("compiling") as status:
        ways = _ways(target, way, lambda what: status.update(f"compiling {what}"))
    if isinstance(target, Case) and (zeros := target.unfilled):
        options.tell(zeros, "yellow")
    table = checking.check(ways, timeout=timeout, tell=options.tell)
    if isinstance(target, Case) and all(map(is_host, ways.runnable)):
        host = next(row for row in table.rows if is_host(row["way"]))
        note, refusal = on_a_gpu(target)
        if note:
            host["note"] = note
            options.tell(note, "yellow")
        if refusal:
            host["outcome"] = refusal
            raise checking.CheckFailure(f"{target.path.name} {refusal}", table.rows)
    options.console.print(table)
    _say_judge(target)
    return table.rows


def _sanitized(target: Any, sanitizer: str) -> Row:
    """Check the host way under a sanitizer, and return the row."""
    from fourways import checking, host

    sizes, looked = checking.search(lambda: _ways(target, ["host"]), sanitizer), host.SEARCHES[sanitizer][1]
    at = f"at {len(sizes)} sizes, from {sizes[0]} to {sizes[-1]}" if sizes[1:] else f"at 1 size, {sizes[0]}"
    options.say(f"Nothing was found {at}.\nLooked for: {looked}.")
    return {"way": "host", "sizes": len(sizes), "outcome": f"nothing was found: {looked}"}


def time(
    kernels: Annotated[
        list[str], typer.Argument(help="A lesson or kernel by number or name, or .cu files of your own, side by side.")
    ],
    way: options.Ways = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", "--size", help="Elements: `2^20`, `1000,2000`, `2^10:2^28`. Default 2^26, on a CPU 2^22."
        ),
    ] = None,
    first: Annotated[bool, typer.Option("--first", help="Time process start to first result instead.")] = False,
    entry: options.Entry = None,
    case: options.CaseFile = None,
    reference: options.Reference = None,
    timeout: options.Timeout = 60,
    json_file: options.Json = None,
    figure: options.FigureFile = None,
) -> None:
    """Time the ways of a kernel side by side: warm, with a cold L2 cache, and the two costs of a launch.

    `fourways time 1` times lesson 01. `fourways time 1 --sizes 2^10:2^28 --figure sizes.svg` times it at every doubling
    of the size, and draws bytes/s against size, with the rate of a plain copy on the GPU.

    `fourways time 1 --first` times the stages of a first result, in fresh processes with cold and warm caches.

    `fourways time my.cu --case my_case.py` times a kernel of your own, after a check at awkward sizes as by
    `fourways check`. `fourways time my.cu variant.cu --case my_case.py` times variants of it side by side, in turns.

    A kernel with a wrong answer is not timed: outputs are poisoned before each sample and judged after the last one.
    Every row names its clock: the GPU's (device) or the host's.
    """
    from fourways import checking, measuring
    from fourways.case import Case
    from fourways.ways import WAYS, missing, side_by_side

    options.one_of(way, tuple(WAYS), "--way")
    with options.refusing("--sizes"):
        elements = measuring.parse_sizes(sizes) if sizes else []
    if first and sizes:
        raise typer.BadParameter("a first result is timed at one size, the lesson's", param_hint="--sizes")
    targets = [options.target(name, entry, case, reference, timeout) for name in kernels]
    if len(targets) > 1 and (first or not all(isinstance(target, Case) for target in targets)):
        raise typer.BadParameter(
            "only files of your own can be timed side by side, and not with --first", param_hint="KERNELS"
        )
    _refuse_missing(way, missing)
    name = ", ".join(map(_name, targets))
    options.say(name, "bold")
    figure_of = measuring.first_result_figure if first else measuring.figure
    with options.keeping(json_file) as kept, options.errors.status("compiling") as status:
        built = {
            _name(target): _ways(target, way, lambda what: status.update(f"compiling {what}")) for target in targets
        }
        ways = side_by_side(built) if len(built) > 1 else built[name]
        if isinstance(targets[0], Case):
            status.update("checking")
            try:
                checking.check(ways, timeout=timeout)
            except checking.CheckFailure as error:
                raise checking.CheckFailure(f"{error}\na wrong answer is not timed") from None
        for tables in _timed(ways, targets[0], elements, first, lambda text: status.update(f"timing {text}")):
            for table in tables:
                table.rows = [row | {"kernel": ways.kernel} for row in table.rows]
            kept[:] = [table for table in tables if table.rows]
        if not kept:
            reasons = [f"{way}: {reason}" for way, reason in ways.missing.items()]
            raise RuntimeError(f"nothing was timed: {tables[0].note or '; '.join(reasons)}")
    for table in kept:
        options.console.print(table)
    _say_judge(targets[0])
    for line in measuring.warnings([row for table in kept if table.name == "timing" for row in table.rows]):
        options.tell(f"Doubtful: {line}", "yellow")
    options.keep(None, [], figure, lambda: figure_of(kept[0].rows, ways.kernel))


def _timed(
    ways: Any, target: Any, sizes: Sequence[int], first: bool, say: Callable[[str], None]
) -> Iterator[list[Any]]:
    """Yield the tables of everything timed so far; the last ones are complete."""
    from fourways import measuring

    if first:
        try:
            table = measuring.first_results(target, tuple(ways.runnable), measuring.WARM, measuring.COLD_SECONDS, say)
        except measuring.FirstResultError as error:
            if error.others:
                yield [error.others]
            raise
        yield [table]
        yield [table, measuring.compare(ways)]  # whose launches `fourways choose` takes
    elif sizes:
        for table in measuring.time_sizes(ways, sizes, say):
            yield [table]
    else:
        say(_name(target))
        yield [measuring.compare(ways)]


def _name(target: Any) -> str:
    from fourways import lesson

    return target.slug if isinstance(target, lesson.Lesson) else target.path.name


def _ways(target: Any, asked: Sequence[str] | None, say: Callable[[str], None] = lambda _: None) -> Any:
    """Build the ways asked for, or all ways of the target. Raises RuntimeError if one asked for cannot run here."""
    from fourways import lesson
    from fourways.case import Case
    from fourways.ways import WAYS

    if isinstance(target, Case):
        ways, own = target.ways(asked or (), say), list(WAYS)
    else:
        ways, own = lesson.load(target, asked or ()), target.meta["ways"]
    _refuse_missing(asked, ways.missing.get)
    return ways.only(asked or own)


def _refuse_missing(asked: Sequence[str] | None, reason_of: Callable[[str], str | None]) -> None:
    for way in asked or ():
        if reason := reason_of(way):
            raise RuntimeError(f"{way}: {reason}")


def _say_judge(target: Any) -> None:
    """Print the origin of the right answers for a case."""
    from fourways.case import Case

    if isinstance(target, Case):
        options.console.print(target.compared_with, markup=False, highlight=False)
