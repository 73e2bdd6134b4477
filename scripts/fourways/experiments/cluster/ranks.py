"""Processes that work together, a rank each: started fresh, watched, and ended whatever happens."""

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
"""What a rank calls to say what it does now: the error names it, if that never ends."""

_GRACE = 20.0
"""Seconds that a killed process is waited for: the driver may still be busy with its GPU."""


class RanksError(RuntimeError):
    """Not all ranks came through. The message says which did not, and what each was doing."""


def run_ranks(target: Callable[..., Any], count: int, arguments: tuple = (), limit: float = 60) -> list[Any]:
    """`target(rank, tell, meeting, *arguments)` in `count` fresh processes; what each returned, by rank.

    `target` must be importable, the rest picklable; a script that calls this must be a file, and do so under
    `if __name__ == "__main__"`, for each process imports it. `meeting` is what the ranks share: `Meeting`.
    Raises RanksError where a rank raises or dies, with the last line that it wrote to stderr (which nobody sees
    otherwise), or where not all have returned after `limit` seconds.
    In every case no process is left when this returns, nor when this process is killed.
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
                theirs.close()  # so that the end of the process is the end of the pipe
                processes.append(process)
                pipes.append(ours)
            end = time.monotonic() + limit
            while len(results) < count:
                waiting = [pipe for rank, pipe in enumerate(pipes) if rank not in results]
                ready = wait(waiting, max(0.0, end - time.monotonic()))
                if not ready:
                    raise RanksError(f"not all {count} ranks are done after {limit:g} s: {_each(doing, results)}")
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
    """What ranks share: bytes that rank 0 hands to all (`share`), and a point where all wait (`barrier`).

    Neither has a limit of its own: `run_ranks` has one for all.
    """

    def __init__(self, context: Any, count: int) -> None:
        self._count = count
        # a SimpleQueue's bytes are on their way when `put` returns: no thread of ours has to run for them
        self._texts, self.barrier = context.SimpleQueue(), context.Barrier(count)

    def share(self, rank: int, make: Callable[[], bytes]) -> bytes:
        """The bytes that rank 0 makes, on every rank."""
        if rank == 0:
            content = make()
            for _ in range(self._count - 1):
                self._texts.put(content)
            return content
        return self._texts.get()


@contextmanager
def _stderr_goes_to(file: IO[bytes]) -> Iterator[None]:
    """What is started meanwhile writes there, from its first moment on."""
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
    """In the fresh process."""
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


def _each(doing: dict[int, str], results: dict[int, Any]) -> str:
    return "; ".join(f"rank {rank} is {'done' if rank in results else text}" for rank, text in doing.items())
