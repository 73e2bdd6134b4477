"""One way of a lesson, once, in this fresh process: prints the seconds of each stage as JSON.

Run as a file by `measuring.first_result`, which sends the task on standard input. Before the first stage it imports
only `stages` and `ways` of the package, which import none of the way's libraries.
"""

import time

ENTERED = time.time()  # before anything else is imported

import json  # noqa: E402
import sys  # noqa: E402
from collections.abc import Iterable, Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from typing import Any  # noqa: E402

from fourways.stages import STAGES  # noqa: E402
from fourways.ways import run_way  # noqa: E402


def main() -> None:
    """Read the task, run it, print `{"stages": {...}, "problem": null}`."""
    seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        """Add the time of a block to a stage; what the block spends in `load` counts there only."""
        start, loaded = time.perf_counter(), seconds["load"]
        yield
        seconds[name] += time.perf_counter() - start - (0.0 if name == "load" else seconds["load"] - loaded)

    task = json.load(sys.stdin)
    seconds["start"] = ENTERED - task["spawned"]
    ran = run_way(task, stage)
    got = [_fetched(ran.outputs)]
    if task["launches"]:
        seconds["launches"] = 0.0
        ran.restore()
        ran.synchronize()
        with stage("launches"):
            for _ in range(task["launches"]):
                ran.function(*ran.arguments)
                if task["reads"]:  # which waits for the launch
                    _fetched(output.reshape(-1)[:1] for output in ran.outputs)
            ran.synchronize()
        if not ran.in_place:  # an output in place was written again and again
            got.append(_fetched(ran.outputs))
    from fourways import checking

    problems = [checking.compare_all(outputs, ran.expected, task["rtol"], task["atol"]) for outputs in got]
    print(json.dumps({"stages": seconds, "problem": next(filter(None, problems), None)}))


def _fetched(outputs: Iterable[Any]) -> list[Any]:
    """Return the outputs in NumPy."""
    return [output.get() if hasattr(output, "get") else output.copy() for output in outputs]


if __name__ == "__main__":
    main()
