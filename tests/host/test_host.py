"""The host way: numbers, sanitizers with planted bugs, the cache, and what people are told when a call is wrong."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fourways import files, host, kernels, toolchain
from fourways._host_launch import Program

HERE = Path(__file__).parent / "kernels"
PATIENCE = ("-DFOURWAYS_PATIENCE=1",)  # seconds until lanes that wait for each other in vain give up
RNG = np.random.default_rng(7)

pytestmark = pytest.mark.skipif(bool(toolchain.missing("host")), reason=str(toolchain.missing("host")))


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty cache for these tests: every kernel here is compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path_factory.mktemp("host-cache")))
        yield


def kernel(file: str, name: str, *options: str, sanitize: str | None = None) -> host.HostKernel:
    return host.compile(HERE / f"{file}.cuh", options, sanitize).get_function(name)


def types() -> host.HostModule:
    return host.compile(HERE / "types.cuh", ("-DT=double",), name_expressions=("scale<float>", "scale<int>"))


def poisoned(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -99, dtype)


# --- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1009, 70001])
@pytest.mark.parametrize("factor", [2, 3])
def test_doublify(size: int, factor: int) -> None:
    options = () if factor == 2 else ("-DFACTOR=3",)
    doublify = host.compile(kernels.path("doublify"), options).get_function("doublify")
    x = RNG.standard_normal(size, np.float32)
    for blocks, threads in ((-(-size // 256) or 1, 256), (3, 64), (1, 1)):
        y = poisoned(size)
        assert doublify((blocks,), (threads,), (x, y, np.int64(size))) is None
        np.testing.assert_array_equal(y, factor * x)


@pytest.mark.parametrize(
    ("size", "blocks", "threads"), [(0, 1, 64), (1, 1, 32), (33, 2, 64), (1009, 5, 128), (999, 1, 1024)]
)
def test_a_sum_by_shuffles_and_shared_memory(size: int, blocks: int, threads: int) -> None:
    x = RNG.integers(-50, 50, size).astype(np.float32)  # whole numbers: exact in any order
    y = poisoned(blocks)
    kernel("right", "block_sum")((blocks,), (threads,), (x, y, np.int64(size)))
    walked = np.zeros(blocks)
    np.add.at(walked, np.arange(size) // threads % blocks, x)
    np.testing.assert_array_equal(y, walked)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 16), (33, 20), (5, 70)])
def test_a_transpose_by_tiles(rows: int, columns: int) -> None:
    x = RNG.standard_normal((rows, columns), np.float32)
    grid = (-(-columns // 16), -(-rows // 16))
    for name, shared_bytes in (("transpose", 0), ("transpose_dynamic", 16 * 17 * 4)):
        y = poisoned(columns, rows)
        kernel("right", name)(grid, (16, 16), (x, y, np.int32(rows), np.int32(columns)), shared_mem=shared_bytes)
        np.testing.assert_array_equal(y, x.T)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 50, 64])
def test_threads_may_return_before_a_barrier(size: int) -> None:
    x, y = np.arange(size, dtype=np.int32) ** 2, poisoned(size, dtype=np.int32)
    kernel("right", "early_return")((1,), (64,), (x, y, np.int32(size)))
    np.testing.assert_array_equal(y, x + x[::-1])


@pytest.mark.parametrize("first", [0, 1, 40, 63, 64])
def test_threads_may_run_to_their_end_before_any_barrier(first: int) -> None:
    y = poisoned(64, dtype=np.int32)
    kernel("right", "late_barrier")((2,), (64,), (y, np.int32(first)))
    np.testing.assert_array_equal(y, [-1] * first + list(range(63, first - 1, -1)))


@pytest.mark.parametrize("width", [32, 8])
@pytest.mark.parametrize("threads", [64, 32])
def test_functions_of_a_warp(width: int, threads: int) -> None:
    y = poisoned(8, threads, dtype=np.int32)
    kernel("right", "warp_functions")((1,), (threads,), (y, np.int32(width)))
    lane = np.arange(threads)
    start = lane // width * width
    np.testing.assert_array_equal(y[0], 100 + start + 3)
    np.testing.assert_array_equal(y[1], 100 + np.where(lane - 3 >= start, lane - 3, lane))
    np.testing.assert_array_equal(y[2], 100 + np.where(lane + 3 < start + width, lane + 3, lane))
    np.testing.assert_array_equal(y[3], 100 + (lane ^ 5))
    votes = [(lane[lane // 32 == warp] % 3 == 0).sum() for warp in lane // 32]
    np.testing.assert_array_equal(y[4], votes)
    assert (y[5] == 1).all()
    assert (y[6] == 2).all()
    np.testing.assert_array_equal(y[7], lane // 32 * 32 + 2)


def test_halves_of_a_warp_meet_apart() -> None:
    y = poisoned(64, dtype=np.int32)
    kernel("right", "half_warps")((1,), (64,), (y,))
    lane = np.arange(64)
    np.testing.assert_array_equal(y, np.where(lane % 32 < 16, lane ^ 7, lane ^ 8))


def test_lanes_that_never_meet_are_an_error_and_not_a_hang() -> None:
    never = kernel("planted", "never_meet", *PATIENCE)
    with pytest.raises(RuntimeError, match=r"thread \d+ of its block waited 1 s in a shuffle"):
        never((2,), (32,), (poisoned(32, dtype=np.int32),))


def test_atomics() -> None:
    cells, count, histogram = np.zeros(5, np.int32), np.zeros(1, np.uint64), np.zeros(4, np.int32)
    total = np.zeros(1, np.float32)
    kernel("right", "atomics")((3,), (64,), (cells, count, total, histogram))
    assert cells.tolist() == [2 * 192, -192, 191, -191, 7]
    assert (count[0], total[0], histogram.tolist()) == (192, 96.0, [48] * 4)


def test_vector_types_templates_scalars_and_libcudacxx() -> None:
    module = types()
    x, y = RNG.standard_normal(1000, np.float32), poisoned(1000)
    module.get_function("add_one")((2,), (64,), (x, y, 250))
    np.testing.assert_array_equal(y, x + np.float32(1))
    for dtype in (np.float32, np.int32):
        y = np.arange(8, dtype=dtype)
        module.get_function(f"scale<{'int' if dtype is np.int32 else 'float'}>")((1,), (8,), (y, dtype(3)))
        np.testing.assert_array_equal(y, 3 * np.arange(8))
    out = np.zeros(9)
    values = (-5, np.uint8(200), np.float32(0.25), 1e300, True, np.int64(2**40))
    module.get_function("scalars")((1,), (1,), (out, *values))
    assert out.tolist() == [-5, 200, 0.25, 1e300, 1, 2**40, 4, np.finfo(np.float64).max, 5]
    flags = np.zeros(4, np.uint16)
    module.get_function("any_bytes")((1,), (1,), (flags, np.int16(8)))
    assert (flags == 0x0707).all()


def test_every_block_and_thread_has_its_place() -> None:
    y = poisoned(4 * 3 * 2, 2 * 3 * 5, dtype=np.int32)
    module = types()
    module.get_function("where")((4, 3, 2), (5, 3, 2), (y,))
    bz, by, bx, tz, ty, tx = np.meshgrid(*map(np.arange, (2, 3, 4, 2, 3, 5)), indexing="ij")
    np.testing.assert_array_equal(
        y.ravel(), (1000000 * bz + 100000 * by + 10000 * bx + 100 * tz + 10 * ty + tx).ravel()
    )


def test_without_barriers_threads_are_plain_loops() -> None:
    module = types()
    counter, y = np.zeros(1, np.int32), poisoned(1000, dtype=np.int32)
    module.get_function("order")((1,), (10, 10, 10), (counter, y))
    np.testing.assert_array_equal(y, np.arange(1000))


def test_what_a_kernel_prints_comes_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    types().get_function("says")((1,), (2,), (7,))
    assert capfd.readouterr().out == "thread 0 says 7\nthread 1 says 7\n"


def test_threads_that_cannot_be_started_are_an_error() -> None:
    """A process with little address space: it has no room for the stacks of 1024 threads."""
    script = (
        "import resource, sys, numpy as np; from fourways import host\n"
        f"kernel = host.compile({str(HERE / 'right.cuh')!r}).get_function('reverse')\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000, resource.RLIM_INFINITY))\n"
        "x, y = np.zeros(1024, np.float32), np.zeros(1024, np.float32)\n"
        "kernel((1,), (8,), (x, y))\n"
        "try: kernel((1,), (1024,), (x, y))\n"
        "except RuntimeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert re.match(r"cannot start 1024 OS threads, .*: use a smaller block$", done.stdout), done.stdout + done.stderr


# --- sanitizers -----------------------------------------------------------------------------------------------------

RACE_LINES = [
    number
    for number, line in enumerate((HERE / "planted.cuh").read_text().splitlines(), 1)
    if line.strip() in ("all[threadIdx.x] = x[threadIdx.x];", "y[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];")
]


def test_a_planted_race_is_found() -> None:
    x, y = np.arange(64, dtype=np.float32), poisoned(64)
    with pytest.raises(host.SanitizerError, match="data race") as raised:
        kernel("planted", "race", sanitize="thread")((1,), (64,), (x, y))
    found = re.findall(rf"#0 race {HERE}/planted\.cuh:(\d+)", raised.value.report)
    assert sorted(map(int, found[:2])) == RACE_LINES
    assert np.isnan(y).all()


def test_right_kernels_have_no_race() -> None:
    x, y = np.arange(64, dtype=np.float32), poisoned(64)
    kernel("right", "reverse", sanitize="thread")((2,), (32,), (x, y))
    np.testing.assert_array_equal(y.reshape(2, 32), x.reshape(2, 32)[:, ::-1])
    doublify = host.compile(kernels.path("doublify"), sanitize="thread").get_function("doublify")
    doublify((2,), (48,), (x, y, np.int64(64)))
    np.testing.assert_array_equal(y, 2 * x)
    sums = poisoned(3)
    kernel("right", "block_sum", sanitize="thread")((3,), (64,), (np.ones(1009, np.float32), sums, np.int64(1009)))
    assert sums.sum() == 1009
    x, y = RNG.standard_normal((20, 33), np.float32), poisoned(33, 20)
    arguments = (x, y, np.int32(20), np.int32(33))
    for name in ("transpose", "transpose_dynamic"):
        kernel("right", name, sanitize="thread")((3, 2), (16, 16), arguments, shared_mem=16 * 17 * 4)
        np.testing.assert_array_equal(y, x.T)
    counts = (np.zeros(5, np.int32), np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(4, np.int32))
    kernel("right", "atomics", sanitize="thread")((2,), (64,), counts)
    assert counts[3].tolist() == [32] * 4


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
    assert re.search(rf"in {name} {HERE}/planted\.cuh:\d+", raised.value.report)
    assert np.isnan(y).all()
    launch((1,), (32,), (*arguments, 0), shared_mem=32 * 4)
    np.testing.assert_array_equal(y, x if len(arguments) == 3 else 1)


def test_a_sanitizer_sees_the_same_array_twice_and_refuses_a_partial_overlap() -> None:
    copy = kernel("planted", "reads_past_x", *PATIENCE, sanitize="address")
    x = np.arange(33, dtype=np.float32)
    copy((1,), (32,), (x, x, np.int64(33), 0))
    np.testing.assert_array_equal(x, np.arange(33))
    with pytest.raises(ValueError, match="may not overlap in part"):
        copy((1,), (32,), (x[1:], x[:-1], np.int64(32), 0))


def test_a_clean_kernel_that_fails_says_why() -> None:
    never = kernel("planted", "never_meet", *PATIENCE, sanitize="address")
    with pytest.raises(RuntimeError, match="waited 1 s") as raised:
        never((1,), (32,), (poisoned(32, dtype=np.int32),))
    assert not isinstance(raised.value, host.SanitizerError)


@pytest.mark.skipif(
    not shutil.which("setarch") or subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode != 0,
    reason="addresses cannot be made less random here (setarch -R)",
)
def test_an_old_thread_sanitizer_gets_addresses_that_it_can_take(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(
        "#!/bin/sh\n[ $(( 0x$(cat /proc/$$/personality) & 0x40000 )) != 0 ] && echo int32 && exit\n"
        'echo "FATAL: ThreadSanitizer: unexpected memory mapping" >&2; exit 66\n'
    )
    program.chmod(0o755)
    assert Program(program).signatures() == ["int32"]


# --- compiling and the cache ----------------------------------------------------------------------------------------


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A compiler that counts its calls, a cache of its own, and a kernel with a header."""
    calls = tmp_path / "calls"
    compiler = tmp_path / "counting-c++"
    compiler.write_text(f'#!/bin/sh\necho >> "{calls}"\nexec "{toolchain.host_compiler()}" "$@"\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "my kernels"
    folder.mkdir()
    (folder / "amount.cuh").write_text("#define AMOUNT 10\n")
    (folder / "fill.cuh").write_text(
        '#include "amount.cuh"\n#ifndef MORE\n#define MORE 0\n#endif\n'
        'extern "C" __global__ void fill(int *y)\n{\n    y[threadIdx.x] = AMOUNT + MORE;\n}\n'
    )

    def filled(*options: str) -> int:
        y = poisoned(1, dtype=np.int32)
        host.compile(folder / "fill.cuh", options).get_function("fill")((1,), (1,), (y,))
        return int(y[0])

    return SimpleNamespace(
        folder=folder, filled=filled, calls=lambda: calls.read_text().count("\n") if calls.exists() else 0
    )


def test_the_cache(counted: SimpleNamespace) -> None:
    assert (counted.filled(), counted.calls()) == (10, 1)
    assert (counted.filled(), counted.calls()) == (10, 1)
    assert (counted.filled("-DMORE=5"), counted.calls()) == (15, 2)
    header = counted.folder / "amount.cuh"
    header.write_text("#define AMOUNT 20\n")
    assert (counted.filled(), counted.calls()) == (20, 3)
    header.write_text("#define AMOUNT 10\n")
    assert (counted.filled(), counted.calls()) == (10, 3)
    source = counted.folder / "fill.cuh"
    source.write_text(source.read_text().replace("AMOUNT +", "2 * AMOUNT +"))
    assert (counted.filled(), counted.calls()) == (20, 4)


def test_our_own_headers_and_the_compiler_are_part_of_the_key(
    counted: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(kernels.root() / "cpp", clone / "cpp")
    monkeypatch.setenv("FOURWAYS_ROOT", str(clone))
    assert (counted.filled(), counted.calls()) == (10, 1)
    with (clone / "cpp" / "host" / "warp.hpp").open("a") as header:
        header.write("// changed\n")
    assert (counted.filled(), counted.calls()) == (10, 2)
    compiler = Path(os.environ["CXX"])
    compiler.write_text(compiler.read_text() + "# another version\n")
    assert (counted.filled(), counted.calls()) == (10, 3)
    assert not list((tmp_path / "cache").glob("building-*"))


def test_a_compile_error_shows_the_compilers_words_and_the_kernels_lines(counted: SimpleNamespace) -> None:
    source = counted.folder / "fill.cuh"
    source.write_text(source.read_text().replace("AMOUNT +", "missing_name +"))
    with pytest.raises(host.CompileError) as raised:
        host.compile(source)
    assert re.search(rf"{re.escape(str(source))}:7:\d+: error: .*missing_name", str(raised.value))
    assert [path.suffix for path in (counted.folder.parent / "cache").iterdir()] == []


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FOURWAYS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert files.cache_dir() == tmp_path / "fourways"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files.cache_dir() == tmp_path / ".cache" / "fourways"


def test_a_cache_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"cannot be kept in .*/file .*: set FOURWAYS_CACHE_DIR"):
        host.compile(kernels.path("doublify"))


def test_a_kernel_with_cub_says_that_it_has_no_host_way() -> None:
    assert host.unsupported(kernels.path("doublify")) is None
    assert "CUB" in str(host.unsupported(HERE / "uses_cub.cuh"))
    with pytest.raises(ValueError, match=r"uses_cub\.cuh has no host way: it uses CUB"):
        host.compile(HERE / "uses_cub.cuh")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("#include <cooperative_groups.h>", "cooperative_groups"),
        ("#include <cooperative_groups/reduce.h>", "cooperative_groups"),
        ("#  include <mma.h>", "mma.h"),
        ('    asm volatile("mov.u32 %0, %clock;" : "=r"(x));', "PTX"),
        ("// #include <cub/cub.cuh>", None),
        ("// asm(", None),
    ],
)
def test_what_has_no_host_way(tmp_path: Path, line: str, word: str | None) -> None:
    source = tmp_path / "kernel.cuh"
    source.write_text(f"// a kernel\n{line}\n")
    reason = host.unsupported(source)
    assert word in reason if word and reason else reason == word


def test_calls_of_compile_that_cannot_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doublify = kernels.path("doublify")
    with pytest.raises(TypeError, match="tuples of str"):
        host.compile(doublify, "-DFACTOR=3")
    with pytest.raises(ValueError, match="'thread' or 'address'; 'memory' came"):
        host.compile(doublify, sanitize="memory")
    with pytest.raises(ValueError, match=r"no kernel 'triple' in doublify\.cuh; there are: doublify"):
        host.compile(doublify).get_function("triple")
    (tmp_path / "empty.cuh").write_text("// nothing\n")
    with pytest.raises(ValueError, match="holds no `__global__ void` function"):
        host.compile(tmp_path / "empty.cuh")
    monkeypatch.setattr(toolchain, "host_compilers", lambda: [])
    with pytest.raises(FileNotFoundError, match="install g"):
        host.compile(doublify)


# --- wrong calls ----------------------------------------------------------------------------------------------------

X, N = np.arange(8, dtype=np.float32), np.int64(8)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"x": X.astype(np.float64)},
            TypeError,
            r"argument 1 of 3: const float32\* wants .* of float32; .*float64.* came",
        ),
        ({"x": X.astype(">f4")}, TypeError, r"argument 1 of 3: .* >f4"),
        ({"x": X.tolist()}, TypeError, r"argument 1 of 3: const float32\* wants a NumPy array of float32; list came"),
        ({"x": None}, TypeError, r"argument 1 of 3: .* NoneType came"),
        ({"x": np.arange(16, dtype=np.float32)[::2]}, ValueError, r"argument 1 of 3: .* C-contiguous; strides \(8,\)"),
        ({"x": X.reshape(2, 4).T}, ValueError, "C-contiguous"),
        ({"n": np.int32(8)}, TypeError, r"argument 3 of 3: int64 is wanted; numpy.int32 came: pass np.int64"),
        ({"n": 8.0}, TypeError, r"argument 3 of 3: int64 is wanted; float came"),
        ({"n": True}, TypeError, r"argument 3 of 3: int64 is wanted; bool came"),
        ({"n": 2**63}, ValueError, r"argument 3 of 3: 9223372036854775808 is out of the range of int64"),
        ({"n": np.array([8])}, TypeError, r"argument 3 of 3: int64 is wanted; an array of int64 came"),
        ({"args": (X,)}, TypeError, r"doublify takes 3 arguments \(const float32\*, float32\*, int64\); 1 came"),
        ({"args": X}, TypeError, "args is a tuple"),
        ({"grid": (0,)}, ValueError, r"grid is \(0,\); CUDA takes 1 to"),
        ({"grid": (1, 65536)}, ValueError, "grid is"),
        ({"grid": 1}, TypeError, "grid is a tuple"),
        ({"grid": (1.0,)}, TypeError, "grid is a tuple"),
        ({"grid": (1, 1, 1, 1)}, TypeError, "grid is a tuple"),
        ({"block": (1025,)}, ValueError, r"block is \(1025,\)"),
        ({"block": (32, 33)}, ValueError, "has 1056 threads; CUDA takes up to 1024"),
        ({"block": (1, 1, 65)}, ValueError, "block is"),
        ({"block": ()}, TypeError, "block is a tuple"),
        ({"shared_mem": 49153}, ValueError, "shared_mem is 0 to 49152 bytes; 49153 came"),
        ({"shared_mem": -1}, ValueError, "shared_mem"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_runs(change: dict, error: type[Exception], message: str) -> None:
    y = poisoned(8)
    call = {"grid": (1,), "block": (8,), "args": (change.get("x", X), y, change.get("n", N)), "shared_mem": 0} | {
        key: value for key, value in change.items() if key not in ("x", "n")
    }
    with pytest.raises(error, match=message):
        host.compile(kernels.path("doublify")).get_function("doublify")(
            call["grid"], call["block"], call["args"], shared_mem=call["shared_mem"]
        )
    assert np.isnan(y).all()


def test_an_output_must_be_writable_and_of_its_dtype() -> None:
    doublify = host.compile(kernels.path("doublify")).get_function("doublify")
    y = poisoned(8)
    y.flags.writeable = False
    with pytest.raises(
        ValueError, match=r"doublify, argument 2 of 3: float32\* .* can be written; a read-only array came"
    ):
        doublify((1,), (8,), (X, y, N))
    doublify((1,), (8,), (y, poisoned(8), N))  # to be read it may be read-only
    with pytest.raises(TypeError, match="argument 2 of 3"):
        doublify((1,), (8,), (X, poisoned(8, dtype=np.int32), N))


def test_vector_pointers_want_whole_and_aligned_vectors() -> None:
    add_one = types().get_function("add_one")
    assert add_one.signature == ("const float32x4*", "float32x4*", "int64")
    with pytest.raises(ValueError, match=r"argument 1 of 3: .* a multiple of 4 elements; 7 came"):
        add_one((1,), (1,), (X[:7], poisoned(8), 1))
    with pytest.raises(ValueError, match=r"argument 2 of 3: .* starts at a multiple of 16 bytes"):
        add_one((1,), (1,), (X, poisoned(12)[1:9], 1))


def test_scalars_are_as_strict_as_the_gpu_ways_need() -> None:
    scalars = types().get_function("scalars")
    good = [-5, np.uint8(200), np.float32(0.25), 1e300, True, 1]
    for place, wrong, error in ((1, 256, ValueError), (2, 0.25, TypeError), (3, 1, TypeError), (4, 1, TypeError)):
        with pytest.raises(error, match=f"scalars, argument {place + 2} of 7"):
            scalars((1,), (1,), (np.zeros(9), *good[:place], wrong, *good[place + 1 :]))
