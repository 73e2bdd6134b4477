"""A kernel that fails on the host is an error that says what which thread did; Python and its arrays live on."""

import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from fourways import host

FILE = Path(__file__).parent / "kernels" / "faults.cuh"


def kernel(name: str, sanitize: str | None = None, timeout: float = 60) -> host.HostKernel:
    return host.compile(FILE, sanitize=sanitize, timeout=timeout).get_function(name)


def floats(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(size, dtype=np.float32), np.full(size, np.nan, np.float32)


def test_a_kernel_without_a_guard_names_thread_and_element_and_changes_nothing() -> None:
    x, y = np.zeros(1024, np.float32), np.full(1000, np.nan, np.float32)
    no_guard = kernel("no_guard")
    with pytest.raises(
        host.KernelError,
        match=r"^thread \(232, 0, 0\) of block \(3, 0, 0\) of no_guard writes element 1000 of y, "
        r"which has 1000; is there a test like `if \(i < n\)`, and is n that number\? No array was changed\.$",
    ):
        no_guard((4,), (256,), (x, y, 1000))
    assert np.isnan(y).all()
    no_guard((4,), (250,), (x, y, 1000))
    assert (y == 0).all(), "the next launch works"


@pytest.mark.parametrize(
    ("name", "size", "place", "message"),
    [
        ("reads", 1024, 1024, "reads element 1024 of x, which has 1024; is there"),
        ("reads", 1024, -1024 * 1024, "element -1048576 of x, which has 1024. No"),
        ("reads", 1, 2**60, "memory that is in none of its arrays"),
        ("writes", 1, 2**20, "element 1048576 of y, which has 1; is there"),
    ],
)
def test_an_access_outside_of_an_array(name: str, size: int, place: int, message: str) -> None:
    x, _ = floats(size)
    y = np.full(max(size, 1) if name == "reads" else size, np.nan, np.float32)
    with pytest.raises(host.KernelError) as raised:
        kernel(name)((1,), (1,), (x, y, place))
    assert str(raised.value).startswith(f"thread (0, 0, 0) of block (0, 0, 0) of {name} ")
    assert message in str(raised.value)
    assert np.isnan(y).all()


@pytest.mark.parametrize(("size", "place"), [(1000, -1), (5, -1000), (5, 5), (5, 7)])
def test_a_write_close_beside_an_array_is_found_after_the_launch(size: int, place: int) -> None:
    """Where an array's page does not end with it, or begin."""
    x, y = floats(size)
    with pytest.raises(host.KernelError, match=f"^a thread of writes writes element {place} of y, which has {size}"):
        kernel("writes")((1,), (1,), (x, y, place))
    assert np.isnan(y).all()


def test_what_the_kernel_declares_const_is_not_written() -> None:
    x, y = floats(8)
    with pytest.raises(
        host.KernelError, match=r"^thread \(5, 0, 0\) .* element 2 of x, which the kernel declares const"
    ):
        kernel("writes_its_input")((1,), (8,), (x, y))
    kernel("writes_its_input")((1,), (8,), (y, y))
    assert (y[0], y[2]) == (1, 7), "one array twice is one memory"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("divides", r"thread \(2, 0, 0\) of block \(0, 0, 0\) of divides divides a whole number by zero"),
        ("asserts", r"thread \(2, 0, 0\) .* ended the program, as assert .*\n\S*/faults.cuh:\d+: .*`threadIdx.x < 2'"),
        ("traps", r"thread \(0, 0, 0\) of block \(0, 0, 0\) of traps ended the program"),
        ("overflows_after_a_barrier", r"thread \(3, 0, 0\) .* overflows its stack, by a recursion"),
        ("babbles", r"thread \(0, 0, 0\) .* has printed 1 MB"),
    ],
)
def test_a_kernel_that_ends_its_program(name: str, message: str) -> None:
    y = np.array([1, 2, 0, 4], np.int32)
    arguments = (y, np.full(4, 7, np.int32)) if name == "divides" else (y,)
    with pytest.raises(host.KernelError, match=message):
        kernel(name)((1,), (4,), arguments)
    assert y.tolist() == [1, 2, 0, 4]


def test_dynamic_shared_memory_has_an_end() -> None:
    y = np.zeros(1, np.float32)
    past = kernel("past_dynamic_shared")
    with pytest.raises(host.KernelError, match="byte 32 of its dynamic shared memory, which has shared_mem=32 bytes"):
        past((1,), (1,), (y, np.int32(8)), shared_mem=32)
    past((1,), (1,), (y, np.int32(7)), shared_mem=32)
    assert np.isnan(y[0])


@pytest.mark.parametrize("sanitize", [None, "thread", "address"])
@pytest.mark.parametrize("name", ["never_ends", "never_ends_after_a_barrier"])
def test_a_loop_that_never_ends_is_stopped(name: str, sanitize: str | None) -> None:
    y = np.array([0, 3], np.int32) if name == "never_ends" else np.full(1, 3, np.int32)
    grid = y.size
    who = rf"(thread \(0, 0, 0\) of )?block \({grid - 1}, 0, 0\)"
    with pytest.raises(
        host.KernelError, match=rf"^{who} of {name} was not done after 1 s and was stopped: does a loop"
    ):
        kernel(name, sanitize, timeout=0.5)((grid,), (8,), (y,))


@pytest.mark.timeout(120)
def test_a_launch_can_be_interrupted() -> None:
    module = host.compile(FILE, timeout=3600)
    never_ends, count = map(module.get_function, ("never_ends", "counts_launches"))
    y = np.zeros(1, np.int32)
    count((1,), (1,), (y,))

    def interrupt() -> None:  # the system may choose any thread of a process for its Ctrl-C: this time it is not ours
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    threading.Timer(0.3, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        never_ends((1,), (1,), (np.full(1, 3, np.int32),))
    y[:] = 0
    never_ends((1,), (1,), (y,))
    count((1,), (1,), (y,))
    assert y[0] == 2, "in a new program, with the variables of the one before"


def test_a_write_past_an_array_into_its_neighbour_is_found() -> None:
    """Two views of one allocation lie side by side: on a GPU this write would change the other array unseen."""
    both = np.zeros(2048, np.float32)
    with pytest.raises(host.KernelError, match="element 1024 of y, which has 1024"):
        kernel("writes")((1,), (1,), (both[1024:], both[:1024], 1024))
    assert not both.any()


def test_arrays_that_overlap_are_one_memory() -> None:
    x = np.arange(64, dtype=np.float32)
    kernel("no_guard")((1,), (32,), (x[:32], x[16:48], 32))
    np.testing.assert_array_equal(x[16:32], 2 * np.arange(16))
    np.testing.assert_array_equal(x[32:48], 4 * np.arange(16), "written before they were read")
    np.testing.assert_array_equal(x[48:], np.arange(48, 64))
