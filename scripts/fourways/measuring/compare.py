"""The ways of a kernel timed side by side, at one size or at many."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fourways import checking, figures, timing, toolchain
from fourways.measuring.clocks import device_seconds, host_seconds, measure, turns
from fourways.measuring.on_gpu import prepared, size_of, time_on_gpu
from fourways.tables import RANGE, Column, Row, Table, rate, seconds, summary
from fourways.ways import GPU_SIZE, HOST_SIZE, Ways, is_host


def parse_sizes(text: str) -> list[int]:
    """Return sizes in elements from `1000`, `2^20`, a list with commas, or `2^10:2^28` for every doubling between.

    Raises ValueError for other texts, and for sizes below 1 or above 2^40.
    """
    sizes: list[int] = []
    for part in text.replace("**", "^").split(","):
        ends = [re.fullmatch(r"\s*(\d{1,15})(?:\^(\d{1,2}))?\s*", end) for end in part.split(":")]
        numbers = [int(end[1]) ** int(end[2] or 1) for end in ends if end]
        if len(numbers) < len(ends) or len(ends) > 2 or numbers[0] < 1 or numbers[0] > numbers[-1]:
            raise ValueError(f"{part!r} is not a size; expected 1000, 2^20, or 2^10:2^28 for every doubling between")
        if numbers[-1] > 2**40:
            raise ValueError(f"{part!r}: no memory holds more than 2^40 elements")
        size = numbers[0]
        while size <= numbers[-1]:
            sizes.append(size)
            size *= 2
    return sizes


def gpu_size(bytes_per_element: int, most: int = 2**29) -> int:
    """Return the largest power of two, at most `most`, of elements that take at most a quarter of the GPU's memory."""
    import cupy

    fitting = cupy.cuda.Device().mem_info[1] // 4 // bytes_per_element
    return min(most, 1 << (fitting.bit_length() - 1))


def time_ways(ways: Ways, names: Sequence[str], size: int) -> list[Row]:
    """Time ways at one size (in elements), and return a row for each.

    The ways on the GPU use the same arrays and take turns, in a new random order each round. They are timed on CuPy's
    current stream: a way must launch there, or on the default stream while that is the current one.
    A row has `seconds` (warm), `cold_seconds`, and the two costs of a launch: `launch_seconds` by the host's clock, and
    `graph_seconds` by the GPU's, which is None if the way does not launch on CuPy's streams, or waits. `bytes` is the
    least that a kernel must move, every array once; `bytes_per_second` is for the warm median. An output in place gets
    its old contents before each sample.
    Raises CheckFailure, and returns no time, if a way's answer is wrong before the samples or after them.
    """
    if not names:
        return []
    question = ways.question(size)
    _refuse_wrong(ways, names, size, question)
    measured = time_on_gpu(ways, [way for way in names if not is_host(way)], question)
    for way in filter(is_host, names):
        arguments, restore = prepared(way, question)
        samples = host_seconds(functools.partial(ways.functions[way], *arguments), restore)
        measured[way] = {"bytes": size_of(arguments), "clock": "host", "seconds": summary(samples)}
    _refuse_wrong(ways, names, size, question, "after the last timed call ")
    return [_with_rate({"way": way, "size": size} | measured[way]) for way in names]


def _refuse_wrong(ways: Ways, names: Sequence[str], size: int, question: tuple, when: str = "") -> None:
    for way in names:
        if problem := checking.verdict(ways.functions[way], way, *question):
            told = f"{ways.called(way)}, size {size}: {when}{problem}; a wrong answer is not timed"
            raise checking.CheckFailure(told)


def _with_rate(row: Row) -> Row:
    return row | {"bytes_per_second": row["bytes"] / max(row["seconds"]["median"], 1e-9)}


def copy_row(size_bytes: int, size: int | None = None) -> Row:
    """Time the device-to-device copy that moves `size_bytes`, reads and writes together, and return its row."""
    samples, moved = device_seconds(timing.copy(size_bytes)), 2 * max(1, size_bytes // 2)
    row: Row = {"way": "device copy", "clock": "device", "bytes": moved, "seconds": summary(samples)}
    return _with_rate(row | ({"size": size} if size else {}))


def compare(ways: Ways, size: int = GPU_SIZE) -> Table:
    """Time every way that can run here, and on a GPU the device-to-device copy of the same bytes.

    `size` is in elements. The host way gets at most HOST_SIZE elements.
    """
    rows = time_ways(ways, [way for way in ways.runnable if not is_host(way)], size)
    rows += time_ways(ways, [way for way in ways.runnable if is_host(way)], min(size, HOST_SIZE))
    if not toolchain.missing("gpu"):
        rows.append(copy_row(max(row["bytes"] for row in rows)))
    skipped = "; ".join(f"{way}: {reason}" for way, reason in ways.missing.items())
    return table(rows, f"Not timed: {skipped}" if skipped else "")


def time_calls(
    calls: Mapping[str, Callable[[], Any]], moved: int | None = None, clock: str = "device", name: str = "calls"
) -> Table:
    """Time calls that take turns, and return a table with a row for each.

    `clock` is "device" for the time on the GPU, "host" for calls that wait for their result, or "launch" for the host's
    time to queue a call. `moved` is the bytes that each call moves: then the device-to-device copy of as many bytes is
    timed, too, and `share` is a call's speed divided by the copy's. Otherwise `times` is a call's median divided by the
    smallest. The caller checks the results, for instance by `require_right`. Raises ValueError for another clock.
    """
    if clock not in ("device", "host", "launch"):
        raise ValueError(f"{clock!r} is no clock; expected device, host or launch")
    rows: list[Row] = [
        {"way": call, "clock": "device" if clock == "device" else "host", "seconds": summary(samples)}
        for call, samples in _samples(calls, clock).items()
    ]
    if moved is None:
        fastest = max(min(row["seconds"]["median"] for row in rows), 1e-9)
        rows = [row | {"times": row["seconds"]["median"] / fastest} for row in rows]
    else:
        roof = copy_row(moved)
        rows = [*(_with_rate(row | {"bytes": moved}) for row in rows), roof]
        rows = [row | {"share": row["bytes_per_second"] / roof["bytes_per_second"]} for row in rows]
    return Table(name, rows, table(rows).columns)


def _samples(calls: Mapping[str, Callable[[], Any]], clock: str) -> dict[str, list[float]]:
    """Return the samples of each call by the clock of `time_calls`."""
    if clock == "device":
        return dict(zip(calls, measure(list(calls.values())), strict=True))
    if clock == "host":
        samples: dict[str, list[float]] = {name: [] for name in calls}
        for name in turns(7, list(calls)):
            samples[name] += host_seconds(calls[name], budget=0.05)
        return samples
    return timing.in_turns({name: timing.launching(call) for name, call in calls.items()}, 28)


def time_sizes(ways: Ways, sizes: Sequence[int], progress: Callable[[str], None] = lambda _: None) -> Iterator[Table]:
    """Time every way at every size (in elements), and on a GPU the copy of the same bytes.

    Yields the table of all rows so far after each size; the last table is complete. `progress` is called with a text
    before each size. A size that does not fit into memory ends the sizes: the last table's note says so.
    """
    rows: list[Row] = []
    for size in sizes:
        try:
            progress(f"{size:,} elements")
            for gpu in toolchain.gpus()[:1]:
                gpu.require_room(size)
            rows += time_ways(ways, list(ways.runnable), size)
            if any(row["clock"] == "device" for row in rows):
                rows.append(copy_row(rows[-1]["bytes"], size))
        except MemoryError as error:  # NumPy's, or its subclass cupy.cuda.memory.OutOfMemoryError
            yield table(rows, f"{size:,} elements and more were not timed: {error}")
            return
        yield table(rows)


def table(rows: Sequence[Row], note: str = "") -> Table:
    """Show rows of `time_ways` and `copy_row`. A column without content is left out."""
    columns: list[Column] = [
        "way",
        ("elements", "size"),
        "clock",
        ("warm median", "seconds"),
        RANGE,
        ("cold L2", "cold_seconds"),
        "bytes_per_second",
        ("of the copy", lambda row: f"{row['share']:.2f}" if "share" in row else ""),
        ("times the fastest", lambda row: f"{row['times']:.3g}" if "times" in row else ""),
        ("launch (host)", "launch_seconds"),
        ("launch (graph)", "graph_seconds"),
    ]
    shown = Table("timing", rows, columns, note)
    shown.columns = [(heading, cell) for heading, cell in shown.columns if any(map(cell, rows))]
    return shown


def warnings(rows: Sequence[Row]) -> list[str]:
    """Return a line for each way whose times are doubtful, because samples spread widely: where they do most."""
    doubts: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row["seconds"]["p90"] / max(row["seconds"]["p10"], 1e-9)):
        low, high = row["seconds"]["p10"], row["seconds"]["p90"]
        if high > 1.1 * low and high - low > 0.5e-6:  # the samples of short kernels spread by a few steps of the clock
            where = f" at {row['size']:,} elements" if "size" in row else ""
            spread = f"p90 is over 1.1 times p10{where} ({seconds(low)}, {seconds(high)})"
            doubts[row["way"]] = f"{row['way']}: {spread}; is the machine busy?"
    return list(doubts.values())


def figure(rows: Sequence[Row], kernel: str) -> Any:
    """Draw bytes per second against size: a line for each way, and a dashed line for the device-to-device copy.

    If each way was timed at one size only, draw bars.
    """
    title = f"{kernel}: bytes per second"
    if len({row["way"] for row in rows}) == len(rows):
        rates = {row["way"]: row["bytes_per_second"] for row in rows}
        return figures.bars({"": rates}, rate, figures.COLOURS, title)
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if "size" in row:
            lines.setdefault(row["way"], []).append((row["size"], row["bytes_per_second"]))
    return figures.lines(lines, "elements", "bytes per second", rate, f"{title} by size", roof="device copy")
