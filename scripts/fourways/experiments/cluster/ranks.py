"""Processes that work together as ranks: started fresh, watched, and ended in every case."""

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection, wait
from typing import IO, Any

Tell = Callable[[str], None]
"""A function by which a rank names its current work. If that work never ends, the error names it."""

_GRACE = 20.0
"""The seconds to wait for a killed process: the driver may still be busy with its GPU."""


class RanksError(RuntimeError):
    """A run in which not all ranks succeeded. The message says which failed, and what each was doing."""


def run_ranks(target: Callable[..., Any], count: int, arguments: tuple = (), limit: float = 60) -> list[Any]:
    """Call `target(rank, tell, meeting, *arguments)` in `count` fresh processes, and return the results by rank.

    `target` must be importable, the arguments picklable. A script must call this function under
    `if __name__ == "__main__"` and be a file, because each process imports it. The ranks share a `Meeting`.
    Raises RanksError if a rank raises or dies, with the last line that it wrote to stderr (which is not shown
    otherwise), and if not all ranks have returned after `limit` seconds.
    No process is left when this function returns, nor when this process is killed.
    """
    context = multiprocessing.get_context("spawn")
    meeting = Meeting(context, count)
    processes, pipes = [], []
    doing = dict.fromkeys(range(count), "starting")
    results: dict[int, Any] = {}
    with ExitStack() as files:
        stderr = [files.enter_context(tempfile.TemporaryFile()) for _ in range(count)]
        try:
            for rank in range(count):
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_run, args=(target, rank, theirs, meeting, arguments), daemon=True)
                with _stderr_goes_to(stderr[rank]):
                    process.start()
                theirs.close()  # then the end of the process closes the pipe
                processes.append(process)
                pipes.append(ours)
            end = time.monotonic() + limit
            while len(results) < count:
                waiting = [pipe for rank, pipe in enumerate(pipes) if rank not in results]
                ready = wait(waiting, max(0.0, end - time.monotonic()))
                if not ready:
                    states = [f"rank {rank} is {'done' if rank in results else text}" for rank, text in doing.items()]
                    raise RanksError(f"not all {count} ranks are done after {limit:g} s: {'; '.join(states)}")
                for pipe in ready:
                    rank = pipes.index(pipe)  # type: ignore[arg-type]
                    kind, value = _received(pipes[rank], processes[rank])
                    if kind == "doing":
                        doing[rank] = value
                    elif kind == "returned":
                        results[rank] = value
                    else:
                        words = _last_line(stderr[rank]) if kind == "ended with" else ""
                        raise RanksError(f"rank {rank} of {count} {kind} {value} while {doing[rank]}{words}")
            return [results[rank] for rank in range(count)]
        finally:
            for process in processes:
                process.kill()
            for process in processes:
                process.join(_GRACE)


class Meeting:
    """The communication between ranks: `share` sends bytes of rank 0 to all, and at `barrier` all ranks wait.

    Neither has a time limit: `run_ranks` has one for everything.
    """

    def __init__(self, context: Any, count: int) -> None:
        self._count = count
        # a SimpleQueue has sent its bytes when `put` returns: no thread of ours has to run for that
        self._texts, self.barrier = context.SimpleQueue(), context.Barrier(count)

    def share(self, rank: int, make: Callable[[], bytes]) -> bytes:
        """Return, on every rank, the bytes that rank 0 makes."""
        if rank == 0:
            content = make()
            for _ in range(self._count - 1):
                self._texts.put(content)
            return content
        return self._texts.get()


@contextmanager
def _stderr_goes_to(file: IO[bytes]) -> Iterator[None]:
    """Make processes that are started in this block write their stderr to `file`."""
    kept = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _last_line(file: IO[bytes]) -> str:
    file.seek(0)
    lines = file.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""


def _run(target: Callable[..., Any], rank: int, pipe: Connection, meeting: Meeting, arguments: tuple) -> None:
    """Run a rank in its fresh process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        pipe.send(("returned", target(rank, lambda text: pipe.send(("doing", text)), meeting, *arguments)))
    except Exception as error:
        pipe.send(("raised", f"{type(error).__name__}: {str(error).strip()}"))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _received(pipe: Connection, process: Any) -> tuple[str, Any]:
    try:
        return pipe.recv()
    except (EOFError, OSError):  # OSError: in the middle of a message
        process.join(_GRACE)
        code = process.exitcode
        return "ended with", signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
