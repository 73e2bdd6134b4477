"""Timelines without a GPU: CUPTI's records made rows, rows made a trace, a table and a drawing; errors in one line."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fourways import _timeline_process as process
from fourways import figures, lesson, nvtx_cells, running, tables, timeline, timeline_figure, toolchain


def row(kind: str, name: str, start: float, seconds: float, **more: object) -> tables.Row:
    clock = "device" if kind in timeline.ON_GPU else "host"
    more |= {"stream": 7} if clock == "device" else {}
    return {"kind": kind, "name": name, "clock": clock, "start_seconds": start, "seconds": seconds, **more}


@pytest.fixture
def rows() -> list[tables.Row]:
    """Synthetic: written by hand, in the order of size that an H200 shows; no run of anything."""
    launch = {"grid": [262144, 1, 1], "block": [256, 1, 1], "registers": 16}
    kernels = [row("kernel", "doublify", 0.91 + i * 130e-6, 128e-6, **launch) for i in range(10)]
    return [
        row("NVTX range", "inputs", 0.5, 0.35),
        row("copy", "host to device", 0.7, 0.04, bytes=2**28),
        row("NVTX range", "build", 0.85, 0.05),
        row("NVTX range", "warm launches", 0.9099, 0.0015),
        *[row("API call", "cuLaunchKernel", 0.9099 + i * 6e-6, 4e-6, thread=0) for i in range(10)],
        row("API call", "cudaDeviceSynchronize", 0.91001, 0.0014, thread=0),
        row("synchronization", "context synchronize", 0.91002, 0.0013),
        *kernels,
        row("NVTX range", "copy back", 0.912, 0.03),
        row("copy", "device to host", 0.9125, 0.02, bytes=2**28),
    ]


def test_summary(rows: list[tables.Row]) -> None:
    found = {row["name"]: row for row in timeline.table(rows).rows}
    assert list(found)[:3] == ["host to device", "device to host", "doublify"], "the longest first"
    doublify = found["doublify"]
    assert doublify["seconds"]["samples"] == 10 and doublify["clock"] == "device"
    assert doublify["total_seconds"] == pytest.approx(1.28e-3)
    assert doublify["share"] == pytest.approx(1.28e-3 / 61.28e-3)
    assert found["during warm launches"]["seconds"]["median"] == pytest.approx(2e-6)
    assert found["during warm launches"]["share"] == pytest.approx(18e-6 / 1.298e-3)
    assert found["between first and last work"]["share"] == pytest.approx(1 - 61.28e-3 / 0.2325)
    assert "doublify" in str(timeline.table(rows)) and "2.1% of busy time" in str(timeline.table(rows))


def test_work_on_two_streams_at_once_is_busy_once() -> None:
    rows = [row("kernel", "a", 0.0, 2.0), row("kernel", "b", 1.0, 2.0), row("kernel", "c", 4.0, 1.0)]
    assert timeline.union(rows) == [(0.0, 3.0), (4.0, 5.0)]
    found = {row["name"]: row for row in timeline.summed_up(rows)}
    assert found["a"]["share"] == 0.5
    assert found["between first and last work"]["total_seconds"] == 1.0
    assert "during warm launches" not in found


def test_trace(rows: list[tables.Row]) -> None:
    trace = json.loads(timeline.trace_json(rows))
    named = {(e["pid"], e.get("tid")): e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    drawn = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(drawn) == len(rows) and {event["ph"] for event in trace["traceEvents"]} == {"M", "X"}
    assert all({"name", "cat", "ts", "dur", "pid", "tid", "args"} <= set(event) for event in drawn)
    places = {(named[e["pid"], None], named[e["pid"], e["tid"]]) for e in drawn}
    host = {("host", "NVTX ranges"), ("host", "API calls, thread 0"), ("host", "synchronizations")}
    assert places == {("GPU", "stream 7"), *host}
    kernel = next(event for event in drawn if event["cat"] == "kernel")
    assert (kernel["name"], kernel["ts"], kernel["dur"]) == ("doublify", 910000.0, 128.0), "microseconds"
    assert kernel["args"]["grid"] == [262144, 1, 1]


def test_figure(rows: list[tables.Row], tmp_path: Path) -> None:
    drawn = timeline_figure.figure(rows, "doublify by NVRTC")
    whole, detail = drawn.axes
    assert detail.get_title(loc="left") == "warm launches, 9 gaps of 2.00 µs (median)"
    assert (whole.get_xlabel(), detail.get_xlabel()) == ("ms", "ms")
    assert detail.get_xlim()[1] == pytest.approx(1.5), "the detail shows the warm launches and no more"
    assert "10 doublify" in [note.get_text() for note in detail.texts]
    words = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert words[0] == "inputs, 350 ms" and words[-1] == "host waits for GPU"
    figures.save(drawn, tmp_path / "timeline.svg")
    assert "doublify by NVRTC" in (tmp_path / "timeline.svg").read_text()
    assert drawn.get_figwidth() <= 4.8, "inches: readable on a phone"


def test_part_starts_with_its_range(rows: list[tables.Row]) -> None:
    found = timeline.part(rows, "warm launches")
    assert (found[0]["name"], found[0]["start_seconds"]) == ("warm launches", 0.0)
    assert found[-1]["name"] == "doublify" and len(timeline.gpu_work(found)) == 10
    assert rows[3]["start_seconds"] == 0.9099, "the rows given stay as they are"
    assert timeline.part(rows, "no such range") == []


def test_figure_looks_closer_at_a_range(rows: list[tables.Row]) -> None:
    drawn = timeline_figure.figure(rows, closer="copy back")
    assert drawn.axes[1].get_title(loc="left") == "copy back"
    assert drawn.axes[1].get_xlim()[1] == pytest.approx(30), "ms"


def test_figure_without_ranges_shows_the_densest_work(rows: list[tables.Row]) -> None:
    drawn = timeline_figure.figure([row for row in rows if row["kind"] != "NVTX range"] * 2)
    assert drawn.axes[1].get_title(loc="left").startswith("the densest 20 pieces of work")
    with pytest.raises(ValueError, match="no work on the GPU"):
        timeline_figure.figure([row for row in rows if row["clock"] == "host"])


def test_records_become_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    cupti = pytest.importorskip("cupti.cupti", reason="cupti-python is not installed: make setup")

    def record(kind: str, **fields: object) -> SimpleNamespace:
        return SimpleNamespace(kind=int(cupti.ActivityKind[kind]), **fields)

    names = {("RUNTIME_API", 41): "cudaMemcpyAsync_v3020", ("DRIVER_API", 307): "cuLaunchKernel"}
    monkeypatch.setattr(cupti, "get_callback_name", lambda domain, number: names[domain.name, number])
    first = 1_795_252_551_729_141_990
    launch = {f"{what}_{axis}": 2 for what in ("grid", "block") for axis in "xyz"}
    records = [
        record("MARKER", flags_=int(cupti.ActivityFlag.MARKER_START), id=1, timestamp=first, name="outer"),
        record("MARKER", flags_=int(cupti.ActivityFlag.MARKER_START), id=2, timestamp=first + 10, name="inner"),
        record("MARKER", flags_=int(cupti.ActivityFlag.MARKER_START), id=3, timestamp=first + 11, name="never ends"),
        record("MARKER", flags_=int(cupti.ActivityFlag.MARKER_INSTANTANEOUS), id=4, timestamp=first + 12, name="mark"),
        record("MARKER", flags_=4, id=2, timestamp=first + 20),  # 4: CUPTI_ACTIVITY_FLAG_MARKER_END
        record("MARKER", flags_=4, id=1, timestamp=first + 900),
        record("DRIVER", start=first + 30, end=first + 40, cbid=307, thread_id=896004416),
        record("RUNTIME", start=first + 25, end=first + 28, cbid=41, thread_id=77),
        record("MEMCPY", start=first + 26, end=first + 27, stream_id=7, bytes=4000, copy_kind=2),
        record("MEMSET", start=first + 28, end=first + 29, stream_id=7, bytes=64),
        record(
            *("CONCURRENT_KERNEL",),
            **{"start": first + 50, "end": first + 90, "stream_id": 7, "name": "f", "registers_per_thread": 16},
            **launch,
        ),
        record("GRAPH_TRACE", start=first + 100, end=first + 120, stream_id=13, graph_id=2),
        record("SYNCHRONIZATION", start=first + 91, end=first + 99, type=3),
    ]
    found = process.relative(process.paired([process.describe(one, cupti) for one in records]))
    nanoseconds = [(one["name"], round(one["start_seconds"] * 1e9), round(one["seconds"] * 1e9)) for one in found]
    assert nanoseconds == [
        *[("outer", 0, 900), ("inner", 10, 10), ("cudaMemcpyAsync", 25, 3), ("device to host", 26, 1)],
        *[("memset", 28, 1), ("cuLaunchKernel", 30, 10), ("f", 50, 40), ("stream synchronize", 91, 8)],
        ("graph 2", 100, 20),
    ]
    by_name = {one["name"]: one for one in found}
    assert by_name["f"]["grid"] == [2, 2, 2] and by_name["f"]["registers"] == 16
    assert (by_name["f"]["clock"], by_name["outer"]["clock"]) == ("device", "host")
    assert (by_name["cudaMemcpyAsync"]["thread"], by_name["cuLaunchKernel"]["thread"]) == (1, 0)
    assert by_name["device to host"]["bytes"] == 4000
    assert by_name["f"]["symbol"] == "f"
    assert json.loads(json.dumps(found)) == found
    assert len(json.loads(timeline.trace_json(found))["traceEvents"]) >= len(found)


CUB = (
    "_ZN3cub43CUB_300102_SM_750_800_860_890_900_1000_12006detail6reduce28DeviceReduceSingleTileKernelINS2_10policy_hub"
    "Ifj16nan_handling_maxIfEE10Policy1000EPfS9_jS6_ffN4cuda3std3__48identityEEEvT0_T1_T2_T3_T4_T6_"
)  # of `cupy.max`, as CUPTI names it


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("doublify", "doublify"),
        (CUB, "cub::DeviceReduceSingleTileKernel"),
        ("_Z5saxpyIfEvT_PKS0_PS0_i", "saxpy<float>"),
        ("_Z5scaleIfLi4EEvPT_", "scale<float, 4>"),
        ("_ZN12_GLOBAL__N_14mineEPf", "mine"),
        ("_ZN4mine5outer5innerIN4mine5thingEEEvT_", "mine::inner"),
        ("_Zno such thing", "_Zno such thing"),
        ("", ""),
    ],
)
def test_kernels_have_readable_names(symbol: str, name: str) -> None:
    assert process.readable(symbol) == name


def test_a_symbol_stays_one_without_the_cpp_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(process.ctypes, "CDLL", missing)
    assert process._demangled(CUB) == CUB


def test_long_names_fit_the_figure(rows: list[tables.Row]) -> None:
    named = [one | {"name": process.readable(CUB)} if one["kind"] == "kernel" else one for one in rows]
    notes = [note.get_text() for note in timeline_figure.figure(named).axes[1].texts]
    assert "10 DeviceReduceSingleTileKernel" in notes
    assert timeline_figure._short("a" * 40) == "a" * 27 + "…"


def test_a_program_runs_with_its_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process imports from the program's folder and passes dashes on; what fails is said in its own words."""
    (tmp_path / "beside.py").write_text("words = []")
    program = tmp_path / "program.py"
    program.write_text("import beside, sys\nassert __name__ == '__main__'\nsys.exit(' '.join(sys.argv[1:]))\n")
    monkeypatch.setattr(timeline, "_require_recorder", lambda need: None)
    monkeypatch.setattr(timeline, "_recorded", lambda words, what, folder: [words, what, folder])
    words, what, folder = timeline.record_program(program, "3", "--size", "-DX=1")
    assert (what, folder) == ("program.py", tmp_path)
    done = subprocess.run(words, capture_output=True, text=True, env=lesson.process_environment())
    assert (done.returncode, done.stderr.strip()) == (1, "3 --size -DX=1")
    program.write_text("import sys\nprint('through')\nsys.exit(0)\n")
    assert subprocess.run(words, capture_output=True, text=True, env=lesson.process_environment()).returncode == 0


def test_what_a_program_did_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tables.Row]) -> None:
    fake = tmp_path / "fake.py"  # plays _timeline_process
    fake.write_text(
        "import json, sys\nassert sys.argv[1] == '--record' and sys.argv[3:] == ['--', 'my.py', '-x'], sys.argv\n"
        f"open(sys.argv[2], 'w').write({json.dumps(rows)!r})\n"
    )
    words = [sys.executable, "-B", str(fake), "--", "my.py", "-x"]
    assert timeline._recorded(words, "my.py", tmp_path) == rows
    with pytest.raises(timeline.TimelineError, match="my.py: the recorded process failed:\n(.*\n)*AssertionError"):
        timeline._recorded([*words, "-y"], "my.py", tmp_path)


def test_errors_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lesson.find("1")
    for present in (None, "no NVIDIA driver here"):
        monkeypatch.setattr(toolchain, "missing", lambda way, reason=present: reason)
        monkeypatch.setattr(toolchain, "installed", lambda module: None if module == "cupti" else Path())
        for ask in (lambda: timeline.record(found, "nvrtc"), lambda: timeline.record_program(Path("my.py"))):
            with pytest.raises(timeline.TimelineError) as caught:
                ask()
            missing = present or "the package cupti-python is not installed: make setup"
            assert str(caught.value) == f"no timeline: {missing}"
    with pytest.raises(timeline.TimelineError, match="host way leaves the GPU idle"):
        timeline.record(found, "host")
    with pytest.raises(lesson.LessonError, match="has no cell tagged way-fortran"):
        timeline.record(found, "fortran")


def test_a_failed_process_is_told_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "_require", lambda *_: None)
    monkeypatch.setattr(timeline, "command", lambda *_: [sys.executable, "-c", "import sys; sys.exit('no such luck')"])
    with pytest.raises(timeline.TimelineError, match="01_doublify, nvrtc: the recorded process failed:\nno such luck"):
        timeline.record(lesson.find("1"), "nvrtc")


@pytest.mark.skipif(not toolchain.missing("gpu"), reason="this machine has a GPU: tests/gpu runs it there")
def test_the_process_says_what_it_lacks_without_a_traceback() -> None:
    done = subprocess.run(
        timeline.command(lesson.find("1"), "nvrtc", size=16),
        capture_output=True,
        text=True,
        env=lesson.process_environment(),
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "driver" in done.stderr.lower(), done.stderr


LESSON = """---
fourways:
  kernel: doublify
  ways: [host]
  without: {}
  minutes: 20
---

# A lesson

```{code-cell} python
:tags: [setup]
import numpy as np

def make_inputs(size):
    return (np.arange(size, dtype=np.float32),)

def reference(x):
    return 2 * x

if "get_ipython" in globals():
    print([callback.__module__ for callback in get_ipython().events.callbacks["pre_run_cell"]])
```

```{code-cell} python
:tags: [way-nvrtc]
def doublify_nvrtc(x, y):
    y[:] = 2 * x
```

```{code-cell} python
:tags: [measure, needs-host]
print("measured")
```
"""


FAKES = {
    "log.py": "def log(*words):\n    print(*words, file=open({log!r}, 'a'))\n",
    "cupyx/__init__.py": "",
    "cupyx/profiler.py": """
from contextlib import contextmanager
from log import log

@contextmanager
def time_range(name):
    log("begin", name)
    yield
    log("end", name)

@contextmanager
def profile():
    log("start")
    yield
    log("stop")
""",
    "cupy.py": """
from types import SimpleNamespace
from log import log

asarray = lambda array: array.copy()
cuda = SimpleNamespace(
    Device=lambda: SimpleNamespace(synchronize=lambda: log("synchronize")),
    runtime=SimpleNamespace(free=lambda pointer: log("context made")),
)
""",
}


@pytest.fixture
def ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one lesson. In its processes a stand-in for CuPy writes what is asked of it to the file returned."""
    log = tmp_path / "log"
    contents = {name: text.replace("{log!r}", repr(str(log))) for name, text in FAKES.items()}
    for name, text in (contents | {"lessons/05_test.md": LESSON, "cpp/kernels/doublify.cuh": ""}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "missing", lambda need: "not here" if need == "nvrtc" else None)
    return log


def run_stages(way: str | None) -> subprocess.CompletedProcess[str]:
    words = timeline.command(lesson.find("5"), way, size=100, launches=3)
    return subprocess.run(words, capture_output=True, text=True, env=lesson.process_environment())


def test_the_stages_of_a_way_are_ranges_in_order(ranges: Path) -> None:
    done = run_stages("nvrtc")
    assert not done.returncode, done.stderr
    lines = ranges.read_text().splitlines()
    stages = ["context", "inputs", "build", "first launch", "warm launches", "copy back"]
    assert [line.removeprefix("begin ") for line in lines if line.startswith("begin")] == stages
    warm = ["start", "begin warm launches", "synchronize", "end warm launches", "stop"]
    assert lines[lines.index("start") : lines.index("stop") + 1] == warm, "one wait for all launches"


def test_a_wrong_answer_gives_no_timeline(ranges: Path) -> None:
    path = lesson.find("5").path
    path.write_text(path.read_text().replace("y[:] = 2 * x", "y[1:] = 2 * x[1:]"))
    done = run_stages("nvrtc")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "doublify_nvrtc, size 100: element 0 is nan (never written" in done.stderr


def test_a_whole_lesson_is_a_range_for_each_cell_that_can_run(ranges: Path) -> None:
    done = run_stages(None)
    assert not done.returncode, done.stderr
    begun = [line.removeprefix("begin ") for line in ranges.read_text().splitlines() if line.startswith("begin")]
    assert [name for name in begun if "way-nvrtc" not in name] == ["cell 1 setup", "cell 3 measure needs-host"]
    assert "measured" in done.stdout


def test_cells_are_ranges_where_asked(ranges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(nvtx_cells.ASKED, "1")
    result = running.run(lesson.find("5"))
    assert not result.error and result.ran == 2
    first, third = "cell 1 setup", "cell 3 measure needs-host"
    assert ranges.read_text().splitlines() == [f"begin {first}", f"end {first}", f"begin {third}", f"end {third}"]


def test_a_tag_switches_the_profiler_on_for_its_cells(ranges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(nvtx_cells.ASKED, "measure")
    assert not running.run(lesson.find("5")).error
    third = "cell 3 measure needs-host"
    assert ranges.read_text().splitlines()[2:] == ["start", f"begin {third}", f"end {third}", "stop"]


def test_nothing_is_loaded_unless_asked(ranges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(nvtx_cells.ASKED, raising=False)
    result = running.run(lesson.find("5"))
    outputs = [cell.outputs for cell in result.notebook.cells if cell.cell_type == "code"]
    assert not result.error and "nvtx_cells" not in outputs[0][0].text
    assert not ranges.exists()
