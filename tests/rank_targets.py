"""What the tests let ranks do: importable, as fresh processes need it."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def squares(rank: int, tell: Any, meeting: Any, base: int) -> int:
    tell("squaring")
    meeting.barrier.wait()
    return (base + rank) ** 2


def shared(rank: int, tell: Any, meeting: Any) -> bytes:
    return meeting.share(rank, lambda: b"of rank %d" % rank)


def fails(rank: int, tell: Any, meeting: Any, how: str, folder: str) -> None:
    """Rank 1 raises, dies or sleeps; the others wait for it. Each leaves a file RANK-PROCESS in `folder`."""
    Path(folder, f"{rank}-{os.getpid()}").touch()  # nothing to write: it may be killed at any time
    tell("waiting for all")
    if rank == 1:
        tell("alone")
        if how == "raises":
            raise ValueError("no kernel")
        if how == "dies":
            print("first words\nlast words", file=sys.stderr, flush=True)
            os._exit(3)
        if how == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    meeting.barrier.wait()
