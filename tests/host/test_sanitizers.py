"""Sanitizers find planted races and overruns, name the line, and find nothing in what is right."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fourways import host, kernels, toolchain

HERE = Path(__file__).parent / "kernels"
PATIENCE = ("-DFOURWAYS_PATIENCE=1",)  # seconds until lanes that wait for each other in vain give up


def kernel(file: str, name: str, *options: str, sanitize: str | None = None) -> host.HostKernel:
    return host.compile(HERE / f"{file}.cuh", options, sanitize).get_function(name)


def poisoned(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def test_barriers_and_atomics_order_threads() -> None:
    x, y = np.arange(64, dtype=np.float32), poisoned(64)
    kernel("right", "reverse", sanitize="thread")((2,), (32,), (x, y))
    np.testing.assert_array_equal(y.reshape(2, 32), x.reshape(2, 32)[:, ::-1])
    counts = (np.zeros(5, np.int32), np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(4, np.int32))
    kernel("right", "atomics", sanitize="thread")((2,), (64,), counts)
    assert counts[3].tolist() == [32] * 4
    x, y, options = np.ones(32, np.float32), poisoned(32), ("-DFIRST=__syncwarp()", "-DSECOND=__syncwarp()")
    kernel("warp_order", "running_sum", *options, sanitize="thread")((1,), (32,), (x, y))
    np.testing.assert_array_equal(y, np.arange(1, 33))


@pytest.mark.parametrize("statement", ["", "__shfl_sync(~0u, t, 0)", "__any_sync(~0u, t)"])
@pytest.mark.parametrize("place", ["FIRST", "SECOND"])
def test_only_a_barrier_orders_what_the_threads_of_a_warp_access(place: str, statement: str) -> None:
    order = {"FIRST": "__syncwarp()", "SECOND": "__syncwarp()"} | {place: statement}
    options = [f"-D{name}={text}" for name, text in order.items()]
    x, y = np.ones(32, np.float32), poisoned(32)
    for _ in range(3):  # a lane that comes early to the next meeting must never hide the race
        with pytest.raises(host.SanitizerError, match="data race"):
            kernel("warp_order", "running_sum", *options, sanitize="thread")((1,), (32,), (x, y))


PAST = {
    "reads_past_x": "heap-buffer-overflow",
    "writes_past_y": "heap-buffer-overflow",
    "writes_past_shared": "global-buffer-overflow",
    "writes_past_dynamic_shared": "heap-buffer-overflow",
}


@pytest.mark.parametrize("name", PAST)
def test_a_planted_overrun_is_found(name: str) -> None:
    x, y = np.arange(32, dtype=np.float32), poisoned(32)
    arguments = (x, y, np.int64(32)) if name.endswith(("x", "y")) else (y,)
    launch = kernel("planted", name, *PATIENCE, sanitize="address")
    with pytest.raises(host.SanitizerError, match=PAST[name]) as raised:
        launch((1,), (32,), (*arguments, 1), shared_mem=32 * 4)
    assert re.search(rf"in {name} {HERE}/planted\.cuh:\d+", str(raised.value))
    assert np.isnan(y).all()
    launch((1,), (32,), (*arguments, 0), shared_mem=32 * 4)
    np.testing.assert_array_equal(y, x if len(arguments) == 3 else 1)


def test_a_sanitizer_sees_the_same_array_twice_and_a_partial_overlap_as_one_memory() -> None:
    copy = kernel("planted", "reads_past_x", *PATIENCE, sanitize="address")
    x = np.arange(33, dtype=np.float32)
    copy((1,), (32,), (x, x, np.int64(33), 0))
    np.testing.assert_array_equal(x, np.arange(33))
    copy((1,), (32,), (x[1:], x[:-1], np.int64(32), 0))
    np.testing.assert_array_equal(x, [*range(1, 33), 32])


def test_a_clean_kernel_that_fails_says_why() -> None:
    never = kernel("planted", "never_meet", *PATIENCE, sanitize="address")
    with pytest.raises(RuntimeError, match="waited 1 s") as raised:
        never((1,), (32,), (np.zeros(32, np.int32),))
    assert not isinstance(raised.value, host.SanitizerError)


@pytest.mark.parametrize("sanitize", [None, "thread", "blocks"])
def test_threads_that_wait_in_different_barriers_are_said(sanitize: str | None) -> None:
    y = np.zeros(128, np.int32)
    two_barriers = kernel("planted", "two_barriers", sanitize=sanitize)
    with pytest.raises(host.KernelError, match=r"waits in the __syncthreads\(\) of line \d+, thread") as raised:
        two_barriers((2,), (64,), (y, np.int32(32)))
    lines = (HERE / "planted.cuh").read_text().splitlines()
    told = [int(number) for number in re.findall(r"of line (\d+)", str(raised.value))]
    assert len({*told}) == 2 and all("__syncthreads" in lines[number - 1] for number in told)
    assert not y.any()
    two_barriers((2,), (64,), (y, np.int32(64)))
    assert y.all()


@pytest.mark.skipif(
    not shutil.which("setarch") or subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode != 0,
    reason="addresses cannot be made less random here (setarch -R)",
)
def test_an_old_thread_sanitizer_gets_addresses_that_it_can_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of its programs: one that complains as they do, unless its addresses are not random."""
    program, compiler = tmp_path / "program", tmp_path / "c++"
    told = "fourways_signature::told_<fourways_signature::argument_<int, 4ull, 4ull, 0, 0ull> >\t0 0 0 0"
    program.write_text(
        "#!/bin/sh\n[ $(( 0x$(cat /proc/$$/personality) & 0x40000 )) != 0 ] && "
        f"echo '{told}' > /proc/self/fd/$1 && printf ready >&0 && exit\n"
        'echo "FATAL: ThreadSanitizer: unexpected memory mapping" >&2; exit 66\n'
    )
    compiler.write_text(
        f'#!/bin/sh\ncase " $* " in *" -E "*) exec "{toolchain.host_compiler()}" "$@";; esac\n'
        "while [ $# -gt 1 ]; do case $1 in -o) built=$2;; -MF) echo built: > $2;; esac; shift; done\n"
        f"cp '{program}' $built\n"
    )
    for file in (program, compiler):
        file.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    doublify = host.compile(kernels.path("doublify"), sanitize="thread").get_function("doublify")
    assert str(doublify.signature) == "doublify(int argument 1)"
