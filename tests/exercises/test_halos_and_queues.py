"""The judges of halos and of a cache with a queue take right answers of other forms than the page's solutions."""

import numpy as np
import pytest

from fourways.exercises import halos, queues


def test_an_exchange_by_the_whole_plate() -> None:
    def exchange(strips):
        own = [strip[number > 0 : len(strip) - (number < len(strips) - 1)] for number, strip in enumerate(strips)]
        plate, start = np.concatenate(own), 0
        for number, strip in enumerate(strips):
            first = start - (number > 0)
            strip[:] = plate[first : first + len(strip)]
            start += len(own[number])

    assert halos.check_exchange(exchange).startswith("Right")


@pytest.mark.long
def test_a_queue_that_looks_without_the_lock_and_renames() -> None:
    pytest.importorskip("cloudpickle")

    def get_or_build(file, build):
        import fcntl

        if not file.exists():
            with file.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not file.exists():
                    file.with_suffix(".new").write_bytes(build())
                    file.with_suffix(".new").replace(file)
        return file.read_bytes()

    assert queues.check_get_or_build(get_or_build).startswith("Right")
