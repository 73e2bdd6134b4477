"""Reports of Nsight Compute (`.ncu-rep`) read into rows: six quantities of every kernel launch, and its source lines.

`profiling` shows a report by ncu's own names; lesson 07 also computes with them. Nsight Compute's *Profiling Guide*
explains the counters (docs.nvidia.com/nsight-compute/ProfilingGuide).
"""

import functools
import math
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from fourways import profiling
from fourways.tables import Row

SECTIONS = ("LaunchStats", "Occupancy", "SourceCounters")
"""The sections to collect, besides `COUNTERS`. SourceCounters has the counts and samples of each instruction."""

_PRECISIONS = {"fp32": ("f", 1), "fp64": ("d", 1), "fp16": ("h", 2)}  # letter of the counters, numbers an instruction
_FLOP = "smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum"
_FMA_PEAK = "sm__sass_thread_inst_executed_op_{}fma_pred_on.sum.peak_sustained"
_SECTORS = {
    kind: tuple(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("sectors", "requests"))
    for kind, op in (("loads", "ld"), ("stores", "st"))
}
_STALL = "smsp__pcsamp_warps_issue_stalled_"
_DEVICE = "device__attribute_display_name"
_SAMPLES = "smsp__pcsamp_sample_count"

COUNTERS = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__bytes.sum.peak_sustained",
    "dram__cycles_elapsed.avg.per_second",
    "lts__t_sector_hit_rate.pct",
    "lts__t_sector_op_read_hit_rate.pct",
    "sm__cycles_elapsed.avg.per_second",
    *(name for pair in _SECTORS.values() for name in pair),
    *(_FLOP.format(letter, op) for letter, _ in _PRECISIONS.values() for op in ("add", "mul", "fma")),
    *(_FMA_PEAK.format(letter) for letter, _ in _PRECISIONS.values()),
)
"""The metrics that `read` needs besides `SECTIONS`."""


class Report(NamedTuple):
    """The rows of a report, of all its launches."""

    metrics: list[Row]
    lines: list[Row]


def read(path: Path) -> Report:
    """Read a report. Raises as `profiling.actions` does."""
    report = Report([], [])
    for launch, action in enumerate(profiling.actions(path), 1):
        device = action[_DEVICE].as_string() if _DEVICE in action else ""
        named = {"launch": launch, "kernel": action.name(), "device": device}
        report.metrics.extend(named | row for row in _metrics(action))
        report.lines.extend(named | row for row in _lines(action))
    return report


def options() -> list[str]:
    """Return the options by which Nsight Compute collects the quantities and the source lines."""
    sections = [word for section in SECTIONS for word in ("--section", section)]
    return [*sections, "--metrics", ",".join(COUNTERS)]


def ratio(above: float | None, below: float | None) -> float | None:
    """Return the quotient, or None if a number is unknown or the divisor is 0."""
    return above / below if above is not None and below else None


def product(*factors: float | None) -> float | None:
    """Return the product, or None if a factor is unknown."""
    known = [factor for factor in factors if factor is not None]
    return math.prod(known) if len(known) == len(factors) else None


def _number(action: Any, name: str) -> float | None:
    return action[name].as_double() if name in action else None


def _metrics(action: Any) -> list[Row]:
    """Return the quantities of a launch; a value that the report lacks is None."""
    get = functools.partial(_number, action)
    duration = product(get("gpu__time_duration.sum"), 1e-9)
    read_bytes, written = get("dram__bytes_read.sum"), get("dram__bytes_write.sum")
    moved = None if read_bytes is None or written is None else read_bytes + written
    samples = {reason: int(get(_STALL + reason) or 0) for reason in _stall_reasons(action)}
    peak = product(get("dram__bytes.sum.peak_sustained"), get("dram__cycles_elapsed.avg.per_second"))
    return [
        {"metric": "duration", "clock": "device", "seconds": duration},
        {"metric": "dram", "bytes_per_second": ratio(moved, duration), "peak_bytes_per_second": peak},
        {
            "metric": "l2",
            "hit_percent": get("lts__t_sector_hit_rate.pct"),
            "read_hit_percent": get("lts__t_sector_op_read_hit_rate.pct"),
        },
        {
            "metric": "occupancy",
            "percent": get("sm__warps_active.avg.pct_of_peak_sustained_active"),
            "possible_percent": get("sm__maximum_warps_per_active_cycle_pct"),
        },
        {"metric": "sectors"} | {kind: ratio(*map(get, pair)) for kind, pair in _SECTORS.items()},
        {"metric": "stalls", "shares": _shares(Counter(samples))},
        {"metric": "roofline", "peak_bytes_per_second": peak} | _roofline(action, duration, moved),
    ]


def _shares(counts: Counter[str]) -> dict[str, float] | None:
    return {name: count / counts.total() for name, count in counts.most_common() if count} or None


def _stall_reasons(action: Any) -> list[str]:
    """Return the stall reasons in a report. `selected` is no stall: such a warp issued an instruction."""
    names = [name.removeprefix(_STALL) for name in action.metric_names() if name.startswith(_STALL)]
    return [name for name in names if not name.endswith("_not_issued")]


def _by_instruction(action: Any, name: str) -> dict[int, int]:
    """Return a counter's value for each instruction, by address."""
    if name not in action or not action[name].has_correlation_ids():
        return {}
    metric, addresses = action[name], action[name].correlation_ids()
    return {addresses.as_uint64(i): metric.as_uint64(i) for i in range(metric.num_instances())}


def _roofline(action: Any, duration: float | None, moved: float | None) -> Row:
    """Return the kernel's place in the roofline of the precision that it uses most, without tensor cores.

    Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
    architectures", Communications of the ACM 52(4), 2009. A fused multiply-add is two operations.
    """
    cycles = _number(action, "smsp__cycles_elapsed.avg")

    def executed(name: str) -> float | None:
        total = _number(action, name)  # `ncu --set full` collects it per cycle only
        return product(_number(action, f"{name}.per_cycle_elapsed"), cycles) if total is None else total

    operations: dict[str, float] = {}
    for precision, (letter, numbers) in _PRECISIONS.items():
        add, mul, fma = (executed(_FLOP.format(letter, op)) for op in ("add", "mul", "fma"))
        if add is not None and mul is not None and fma is not None:
            operations[precision] = numbers * (add + mul + 2 * fma)
    precision = max(operations, key=lambda name: operations[name], default="fp32")
    letter, numbers = _PRECISIONS[precision]
    done, clock = operations.get(precision), _number(action, "sm__cycles_elapsed.avg.per_second")
    return {
        "precision": precision,
        "flop_per_byte": ratio(done, moved),
        "flop_per_second": ratio(done, duration),
        "peak_flop_per_second": product(2.0 * numbers, _number(action, _FMA_PEAK.format(letter)), clock),
    }


def _lines(action: Any) -> list[Row]:
    """Return the source lines of the kernel's instructions, those with most samples first."""
    executed, samples = _by_instruction(action, "inst_executed"), _by_instruction(action, _SAMPLES)
    waits = {reason: _by_instruction(action, _STALL + reason) for reason in _stall_reasons(action)}
    waits.pop("selected", None)
    texts = {name: text.splitlines() for name, text in action.source_files().items()}
    places: dict[tuple[str, int], list[int]] = {}
    for address in executed | samples:  # samples also hit the padding behind the last instruction
        if (info := action.source_info(address)) and info.line():
            places.setdefault((info.file_name(), info.line()), []).append(address)
    rows = []
    for (file, line), addresses in places.items():
        waited = {reason: _of_line(counts, addresses) for reason, counts in waits.items()}
        stall = max(waited, key=lambda reason: waited[reason], default="")
        rows.append(
            {
                "file": Path(file).name,
                "line": line,
                "text": (texts.get(file, [])[line - 1 : line] or [""])[0].strip(),
                "sample_share": ratio(_of_line(samples, addresses), sum(samples.values())) or 0.0,
                "instruction_share": ratio(_of_line(executed, addresses), sum(executed.values())) or 0.0,
                "stall": stall if waited.get(stall) else None,
            }
        )
    return sorted(rows, key=lambda row: (-row["sample_share"], row["file"], row["line"]))


def _of_line(counts: dict[int, int], addresses: list[int]) -> int:
    return sum(counts.get(address, 0) for address in addresses)
