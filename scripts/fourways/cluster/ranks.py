"""Processes that work together, a rank each: started fresh, watched, and ended whatever happens."""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

Tell = Callable[[str], None]
"""What a rank calls to say what it does now: the error names it, if that never ends."""


class RanksError(RuntimeError):
    """Not all ranks came through. The message says which did not, and what each was doing."""


def run_ranks(target: Callable[..., Any], count: int, arguments: tuple = (), limit: float = 60) -> list[Any]:
    """`target(rank, tell, meeting, *arguments)` in `count` fresh processes; what each returned, by rank.

    `target` must be importable, the rest picklable. `meeting` is what the ranks share: `Meeting`.
    Raises RanksError where a rank raises or dies, or where not all have returned after `limit` seconds.
    In every case no process is left when this returns.
    """
    context = multiprocessing.get_context("spawn")
    meeting = Meeting(context, count, limit)
    processes, pipes = [], []
    doing = dict.fromkeys(range(count), "starting")
    results: dict[int, Any] = {}
    try:
        for rank in range(count):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_run, args=(target, rank, theirs, meeting, arguments), daemon=True)
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
                    raise RanksError(f"rank {rank} of {count} {kind} {value} while {doing[rank]}")
        return [results[rank] for rank in range(count)]
    finally:
        for process in processes:
            process.kill()
            process.join()


class Meeting:
    """What ranks share: bytes that rank 0 hands to all (`share`), and a point where all wait (`barrier`)."""

    def __init__(self, context: Any, count: int, limit: float) -> None:
        self._count, self._limit = count, limit
        self._texts, self.barrier = context.Queue(), context.Barrier(count, timeout=limit)

    def share(self, rank: int, make: Callable[[], bytes]) -> bytes:
        """The bytes that rank 0 makes, on every rank."""
        if rank == 0:
            content = make()
            for _ in range(self._count - 1):
                self._texts.put(content)
            return content
        return self._texts.get(timeout=self._limit)


def _run(target: Callable[..., Any], rank: int, pipe: Connection, meeting: Meeting, arguments: tuple) -> None:
    """In the fresh process."""
    try:
        pipe.send(("returned", target(rank, lambda text: pipe.send(("doing", text)), meeting, *arguments)))
    except Exception as error:
        pipe.send(("raised", f"{type(error).__name__}: {error}"))


def _received(pipe: Connection, process: Any) -> tuple[str, Any]:
    try:
        return pipe.recv()
    except EOFError:
        process.join()
        return "ended with", f"exit code {process.exitcode}"


def _each(doing: dict[int, str], results: dict[int, Any]) -> str:
    return "; ".join(f"rank {rank} is {'done' if rank in results else text}" for rank, text in doing.items())
