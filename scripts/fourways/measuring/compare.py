"""The ways of a kernel timed side by side, at one size or at many."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fourways import checking, figures, toolchain
from fourways.measuring.clocks import captured, device_seconds, host_seconds, launch_seconds, measure, turns
from fourways.measuring.judged import Judged
from fourways.tables import RANGE, Column, Row, Table, rate, seconds, summary
from fourways.ways import GPU_SIZE, HOST_SIZE, Ways, is_host

_AFTER = "after the last timed call "


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

    The ways on the GPU use the same arrays and take turns, sample by sample: a slow moment of the machine slows all.
    A row has `seconds` (warm), `cold_seconds`, and the two costs of a launch: `launch_seconds` by the host's clock, and
    `graph_seconds` by the GPU's, which is None if the way does not launch on CuPy's current stream. `mhz` is the GPU's
    lowest and highest clock during the warm samples. `bytes` is the least that a kernel must move, every array once;
    `bytes_per_second` is for the warm median.
    The outputs are restored before each sample, and judged after a way's last sample, with the inputs (`Judged`).
    Raises CheckFailure, and returns no time, if a way's answer is wrong in its first call or at the end, if it changes
    an input, or if it works on another stream than CuPy's current one, where the device's clock does not see it.
    """
    question, refuse = ways.question(size), functools.partial(_refuse, ways, size)
    for way in names:
        refuse(way, checking.verdict(ways.functions[way], way, *question))
    measured: dict[str, Row] = {}
    for way in filter(is_host, names):
        judged = Judged(way, *question)
        samples = host_seconds(functools.partial(ways.functions[way], *judged.values), judged.restore)
        refuse(way, judged.problem(), _AFTER)
        measured[way] = {"bytes": judged.nbytes, "clock": "host", "seconds": summary(samples)}
    if on_gpu := [way for way in names if not is_host(way)]:
        shared = Judged("gpu", *question)
        calls = [functools.partial(ways.functions[way], *shared.values) for way in on_gpu]
        for way, call in zip(on_gpu, calls, strict=True):
            if unseen := shared.elsewhere(call):
                raise checking.CheckFailure(f"{ways.called(way)}, size {size}: {unseen}")
        launches = _launches(ways, on_gpu)

        def judge(number: int) -> None:
            refuse(on_gpu[number], shared.problem(), _AFTER)

        warms, colds = (measure(calls, cold, shared.restore, judge) for cold in (False, True))
        for way, warm, cold in zip(on_gpu, warms, colds, strict=True):
            measured[way] = {
                "bytes": shared.nbytes,
                "clock": "device",
                "seconds": summary(warm.seconds),
                "mhz": [min(warm.mhz), max(warm.mhz)],
                "cold_seconds": summary(cold.seconds),
                **launches[way],
            }
    rows: list[Row] = [{"way": way, "size": size} | measured[way] for way in names]
    return [row | {"bytes_per_second": row["bytes"] / max(row["seconds"]["median"], 1e-9)} for row in rows]


def _refuse(ways: Ways, size: int, way: str, problem: str | None, when: str = "") -> None:
    if problem:
        raise checking.CheckFailure(f"{ways.called(way)}, size {size}: {when}{problem}; a wrong answer is not timed")


def _launches(ways: Ways, names: Sequence[str]) -> dict[str, Row]:
    """Return the cost of a launch for the host and for the GPU, by way.

    It is measured on series of launches of the smallest kernel. The outputs are restored before a series and judged
    after it. An output in place is not judged, because the reference does not know its contents after a series.
    """
    import cupy

    size = min(filter(None, ways.sizes), default=1)
    small = Judged("gpu", *ways.question(size))
    calls = {way: functools.partial(ways.functions[way], *small.values) for way in names}

    def judge(way: str) -> None:
        if not ways.in_place:
            _refuse(ways, size, way, small.problem(), "after a series of launches ")

    queued: dict[str, list[float]] = {way: [] for way in names}
    for way in turns(5, names):
        small.restore()
        queued[way] += launch_seconds(calls[way], cupy.cuda.get_current_stream().synchronize, batches=4)
        judge(way)
    launches: dict[str, Row] = {way: {"launch_seconds": summary(queued[way]), "graph_seconds": None} for way in names}
    capturable = [way for way, call in calls.items() if _can_be_captured(call, small)]
    graphs = [captured(calls[way], 100).launch for way in capturable]
    measured = measure(graphs, before=small.restore, after=lambda number: judge(capturable[number]))
    for way, samples in zip(capturable, measured, strict=True):
        launches[way]["graph_seconds"] = summary([sample / 100 for sample in samples.seconds])
    return launches


def _can_be_captured(call: Callable[[], Any], judged: Judged) -> bool:
    """Return whether a CUDA graph of this call gives the right answer.

    It does if the call launches on CuPy's current stream and waits for nothing.
    """
    import cupy

    try:
        graph = captured(call)
        judged.restore()
        cupy.cuda.Device().synchronize()
        graph.launch()
        cupy.cuda.Device().synchronize()
        return judged.problem() is None
    except cupy.cuda.runtime.CUDARuntimeError:  # the call waits, or uses another stream
        return False


def copy_row(size_bytes: int, size: int | None = None) -> Row:
    """Time the device-to-device copy that moves `size_bytes`, reads and writes together, and return its row."""
    import cupy

    source = cupy.zeros(max(1, size_bytes // 2), np.uint8)
    target = cupy.empty_like(source)
    samples = summary(device_seconds(lambda: target.data.copy_from_device_async(source.data, source.nbytes)))
    row = {"way": "device copy", "clock": "device", "bytes": 2 * source.nbytes, "seconds": samples}
    row |= {"size": size} if size else {}
    return row | {"bytes_per_second": row["bytes"] / max(samples["median"], 1e-9)}


def compare(ways: Ways, size: int | None = None) -> Table:
    """Time every way that can run here, and on a GPU the device-to-device copy of the same bytes.

    `size` is in elements, by default GPU_SIZE. The host way gets at most HOST_SIZE elements.
    """
    size = size or GPU_SIZE
    groups: dict[int, list[str]] = {}
    for way in ways.runnable:
        groups.setdefault(min(size, HOST_SIZE) if is_host(way) else size, []).append(way)
    rows = [row for elements, names in groups.items() for row in time_ways(ways, names, elements)]
    if not toolchain.missing("gpu"):
        rows.append(copy_row(max(row["bytes"] for row in rows)))
    skipped = "; ".join(f"{way}: {reason}" for way, reason in ways.missing.items())
    return table(rows, f"Not timed: {skipped}" if skipped else "")


def time_calls(
    calls: Mapping[str, Callable[[], Any]], moved: int | None = None, clock: str = "device", name: str = "calls"
) -> Table:
    """Time calls that take turns, sample by sample, and return a table with a row for each.

    `clock` is "device" for the time on the GPU, "host" for calls that wait for their result, or "launch" for the host's
    time to queue a call. `moved` is the bytes that each call moves: then the device-to-device copy of as many bytes is
    timed, too, and `share` is a call's speed divided by the copy's. Otherwise `times` is a call's median divided by the
    smallest. The caller checks the results, for instance by `require_right`. Raises ValueError for another clock.
    """
    if clock not in ("device", "host", "launch"):
        raise ValueError(f"{clock!r} is no clock; expected device, host or launch")
    rows: list[Row] = [
        {"way": call, "clock": "device" if clock == "device" else "host", "seconds": summary(samples)}
        for call, samples in zip(calls, _sampled(list(calls.values()), clock), strict=True)
    ]
    if moved is None:
        fastest = max(min(row["seconds"]["median"] for row in rows), 1e-9)
        rows = [row | {"times": row["seconds"]["median"] / fastest} for row in rows]
    else:
        roof = copy_row(moved)
        rows = [row | {"bytes": moved, "bytes_per_second": moved / max(row["seconds"]["median"], 1e-9)} for row in rows]
        rows = [row | {"share": row["bytes_per_second"] / roof["bytes_per_second"]} for row in rows]
        rows.append(roof | {"share": 1.0})
    return Table(name, rows, table(rows).columns)


def _sampled(calls: Sequence[Callable[[], Any]], clock: str) -> list[list[float]]:
    """Return the samples of each call by the clock of `time_calls`."""
    if clock == "device":
        return [samples.seconds for samples in measure(calls)]
    if clock == "host":
        one = functools.partial(host_seconds, budget=0.05)
    else:
        import cupy

        one = functools.partial(launch_seconds, synchronize=cupy.cuda.get_current_stream().synchronize, batches=4)
    samples: list[list[float]] = [[] for _ in calls]
    for number in turns(7, range(len(calls))):
        samples[number] += one(calls[number])
    return samples


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
    """Return a line for each reason to doubt times: samples with a wide spread, or a GPU whose clock moved."""
    doubts = []
    for way in dict.fromkeys(row["way"] for row in rows):
        mine = [row for row in rows if row["way"] == way]
        # the samples of short kernels spread by a few steps of the clock
        wide = [row for row in mine if _spread(row) > 1.1 and row["seconds"]["p90"] - row["seconds"]["p10"] > 0.5e-6]
        if wide:
            worst = max(wide, key=_spread)
            low, high = (seconds(worst["seconds"][key]) for key in ("p10", "p90"))
            where = f" at {worst['size']:,} elements" if "size" in worst else ""
            doubts.append(
                f"{way}: at {len(wide)} of {len(mine)} sizes p90 is over 1.1 times p10, "
                f"most{where} ({low}, {high}); is the machine busy?"
            )
        clocks = [mhz for row in mine for mhz in row.get("mhz", ())]
        if clocks and max(clocks) > 1.03 * min(clocks):
            slow, fast = min(clocks), max(clocks)
            doubts.append(f"{way}: the GPU's clock moved between {slow:.0f} and {fast:.0f} MHz")
    return doubts


def _spread(row: Row) -> float:
    return row["seconds"]["p90"] / max(row["seconds"]["p10"], 1e-9)


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
