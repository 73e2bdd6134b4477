"""Compiling on the host: the cache and what its names depend on, and what people are told when it cannot be done."""

import os
import re
import shutil
import stat
from pathlib import Path
from types import SimpleNamespace

import layouts
import numpy as np
import pytest

from fourways import files, host, kernels, toolchain
from fourways.toolchain import preprocess


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A compiler that counts its calls, a cache of its own, and a kernel with a header."""
    calls = tmp_path / "calls"
    compiler = tmp_path / "counting-c++"
    compiler.write_text(f'#!/bin/sh\necho >> "{calls}"\nexec "{toolchain.host_compiler()}" "$@" -O0\n')
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
        y = np.zeros(1, np.int32)
        host.compile(folder / "fill.cuh", options).get_function("fill")((1,), (1,), (y,))
        return int(y[0])

    return SimpleNamespace(
        folder=folder, filled=filled, calls=lambda: calls.read_text().count("\n") if calls.exists() else 0
    )


def test_the_cache(counted: SimpleNamespace) -> None:
    assert (counted.filled(), counted.calls()) == (10, 3), (
        "process.cpp, for all kernels; this one, preprocessed and compiled"
    )
    assert (counted.filled(), counted.calls()) == (10, 3)
    assert (counted.filled("-DMORE=5"), counted.calls()) == (15, 5)
    header = counted.folder / "amount.cuh"
    header.write_text("#define AMOUNT 20\n")
    assert (counted.filled(), counted.calls()) == (20, 7)
    header.write_text("#define AMOUNT 10\n")
    assert (counted.filled(), counted.calls()) == (10, 8), "preprocessed again, to what is compiled already"
    source = counted.folder / "fill.cuh"
    source.write_text(source.read_text().replace("AMOUNT +", "2 * AMOUNT +"))
    assert (counted.filled(), counted.calls()) == (20, 10)


@pytest.mark.parametrize("share", [0, 0.5])
def test_a_spoilt_entry_is_made_again(counted: SimpleNamespace, tmp_path: Path, share: float) -> None:
    """Once, and without a word: a full disk or a power loss is nothing that the kernel did."""
    assert counted.filled() == 10
    entries = [path for path in (tmp_path / "cache").iterdir() if path.is_file()]
    assert sorted(path.suffix for path in entries) == [".bin", ".ii", ".json", ".json", ".json", ".o"]
    for entry in entries:
        content = entry.read_bytes()
        entry.unlink()  # a running program cannot be written
        entry.write_bytes(content[: int(share * len(content))])
        entry.chmod(0o700)
    before = counted.calls()
    assert (counted.filled(), counted.filled(), counted.calls() - before) == (10, 10, 3)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_cache_is_refused(counted: SimpleNamespace, tmp_path: Path) -> None:
    counted.filled()
    os.chown(tmp_path / "cache", 12345, 12345)
    with pytest.raises(OSError, match=r"cannot be kept in .*/cache, which belongs to another user: set FOURWAYS_CACHE"):
        counted.filled()


def test_the_cache_is_bounded(counted: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not used for longest goes, and what killed compilers left a day ago."""
    counted.filled()
    counted.filled("-DMORE=1")
    before = {path for path in (tmp_path / "cache").iterdir() if path.suffix in (".bin", ".ii", ".o", ".json")}
    monkeypatch.setattr(files, "CACHE_BYTES", sum(path.stat().st_size for path in before))
    for path in before:
        os.utime(path, (1, 1))
    counted.filled()  # its program, and what that was made of, are used now
    (tmp_path / "cache" / "building-old").mkdir()
    os.utime(tmp_path / "cache" / "building-old", (1, 1))
    calls = counted.calls()
    assert counted.filled("-DMORE=2") == 12
    assert (counted.filled(), counted.calls() - calls) == (10, 2)
    held = sum(path.stat().st_size for path in (tmp_path / "cache").iterdir() if path.is_file())
    assert 0 < held <= files.CACHE_BYTES and not (tmp_path / "cache" / "building-old").exists()
    assert (counted.filled("-DMORE=1"), counted.calls() - calls) == (11, 4)


def test_a_compiler_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, words in (("g++-99 -O1", r"not here, g\+\+-99 -O1: unset CXX"), ('g++ "', "No closing quotation")):
        monkeypatch.setenv("CXX", named)
        with pytest.raises(kernels.InputError, match=words):
            host.compile(kernels.path("doublify"))


def test_our_own_headers_and_the_compiler_are_part_of_the_key(
    counted: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(kernels.root() / "cpp", clone / "cpp")
    monkeypatch.setenv("FOURWAYS_ROOT", str(clone))
    assert (counted.filled(), counted.calls()) == (10, 3)
    with (clone / "cpp" / "host" / "warp.hpp").open("a") as header:
        header.write("// changed\n")
    assert (counted.filled(), counted.calls()) == (10, 4), "a comment: the kernel is linked with the same as before"
    monkeypatch.delenv("FOURWAYS_ROOT")
    assert (counted.filled(), counted.calls()) == (10, 7), "another clone, whose headers are others"
    compiler = Path(os.environ["CXX"])
    compiler.write_text(compiler.read_text() + "# another version\n")
    assert (counted.filled(), counted.calls()) == (10, 10)
    assert not list((tmp_path / "cache").glob("building-*"))


def test_a_compile_error_shows_the_compilers_words_and_the_kernels_lines(counted: SimpleNamespace) -> None:
    source = counted.folder / "fill.cuh"
    source.write_text(source.read_text().replace("AMOUNT +", "missing_name +"))
    with pytest.raises(host.CompileError) as raised:
        host.compile(source)
    assert re.search(rf"{re.escape(str(source))}:7:\d+: error: .*missing_name", str(raised.value))
    assert not list((counted.folder.parent / "cache").glob("*.bin"))


def test_a_kernel_that_other_ways_would_not_find_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "mine.cuh"
    source.write_text('extern "C" __global__ void first() {}\n__global__ void mine(int *y) { y[0] = 1; }\n')
    host.compile(source).get_function("first")((1,), (1,), ())
    with pytest.raises(host.CompileError, match='mine must be extern "C": no other way finds it by its plain name'):
        host.compile(source).get_function("mine")
    source.write_text("__global__ void mine(int *y) { y[0] = 1; }\n")
    with pytest.raises(host.CompileError, match='mine must be extern "C": no other way finds it by its plain name'):
        host.compile(source)
    source.write_text('extern "C" {\n__global__ void mine(int *y) { y[0] = 1; }\n}\n')
    host.compile(source)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("#include <cub/block/block_reduce.cuh>", "it uses CUB"),
        ("#include <curand_kernel.h>", "it includes <curand_kernel.h>"),
        ('    asm volatile("mov.u32 %0, %clock;" : "=r"(y[0]));', "it has inline PTX"),
    ],
)
def test_what_has_no_host_way(tmp_path: Path, line: str, reason: str) -> None:
    source = tmp_path / "kernel.cuh"
    kernel = 'extern "C" __global__ void mine(int *y)'
    source.write_text(f"{line}\n{kernel} {{}}\n" if "#" in line else f"{kernel} {{\n{line}\n}}\n")
    with pytest.raises(ValueError, match=rf"kernel\.cuh has no host way: {reason}"):
        host.compile(source)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"options": "-DFACTOR=3"}, TypeError, "a tuple of str"),
        ({"sanitize": "memory"}, ValueError, "one of thread, address, blocks; 'memory' came"),
        ({"source": "mine.cuh"}, FileNotFoundError, r"no file .*/mine\.cuh: host\.compile takes the path"),
        ({"source": "__global__ int"}, ValueError, "holds no kernel: no `__global__ void` function"),
    ],
)
def test_calls_that_cannot_work(arguments: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        host.compile(**{"source": kernels.path("doublify")} | arguments)
    with pytest.raises(ValueError, match=r"no kernel 'triple' in doublify\.cuh; there are: doublify"):
        host.compile(kernels.path("doublify")).get_function("triple")


def test_without_a_compiler_or_a_place_for_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"cannot be kept in .*/file .*: set FOURWAYS_CACHE_DIR"):
        host.compile(kernels.path("doublify"))
    monkeypatch.setattr(preprocess, "host_compiler", lambda: None)
    monkeypatch.setattr(preprocess, "missing", lambda way: f"for {way}: install g++")
    with pytest.raises(FileNotFoundError, match="for host compiler: install g"):
        host.compile(kernels.path("doublify"))


def test_clang_is_told_in_its_own_words_that_volatile_accesses_are_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = 'case " $* " in *" -mllvm -tsan-distinguish-volatile "*) echo so told >&2; exit 1;; esac'
    clang = layouts.script(tmp_path / "clang++", f'{told}\nexec "{toolchain.host_compiler()}" "$@"')
    monkeypatch.setenv("CXX", str(clang))
    with pytest.raises(host.CompileError, match="so told"):
        host.compile(kernels.path("doublify"), sanitize="blocks")


def test_a_text_runs_as_a_file_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOURWAYS_CACHE_DIR", str(tmp_path))
    text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n'
    x = np.arange(4, dtype=np.float32)
    host.compile(text).get_function("twice")((1,), (4,), (x,))
    assert x.tolist() == [0, 2, 4, 6]
    with pytest.raises(host.CompileError, match=r"kernel\.cu:1:"):
        host.compile('extern "C" __global__ void wrong(float *x) { x[0] = y; }')
