"""A compiled kernel file as a separate program: whatever a kernel does, this Python lives on."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from io import FileIO
from pathlib import Path

import numpy as np

from fourways.host.arrays import Layout
from fourways.host.faults import explain, explain_race, is_race
from fourways.host.launch import Launch

_FOUND = 66  # exit status of a program in which a sanitizer found a fault
_KEPT = 2**28  # bytes of arrays whose memory stays for the next launch: fresh pages take longer than copying into them
_SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": f"exitcode={_FOUND}:detect_leaks=0",
    "TSAN_OPTIONS": f"exitcode={_FOUND}:halt_on_error=1",
}


class KernelError(RuntimeError):
    """A kernel did what it must not; the message says what, which thread, and where. No array was changed."""


class SanitizerError(KernelError):
    """A sanitizer found a fault in a kernel; the message holds the sanitizer's own report. No array was changed."""


class Process:
    """The program, which serves launches until this object is deleted; a launch restarts a program that has ended.

    `variables` are the bytes of the module's variables, by name, all parts of `memory`: a launch hands them over.
    """

    def __init__(self, file: Path, sanitized: bool):
        self._file, self._sanitized, self._lock = file, sanitized, threading.Lock()
        self._worker = self._started()
        sizes = [line.rsplit(" ", 1) for line in self._worker.variables.splitlines()]
        places = np.cumsum([0, *(-(-int(size) // 16) * 16 for _, size in sizes)])
        self.memory = np.zeros(int(places[-1]), np.uint8)
        initial = np.frombuffer(self._worker.initial, np.uint8)
        self.memory[: initial.size] = initial  # the last variable's end may not be there
        self.variables = {
            name: self.memory[place : place + int(size)]
            for (name, size), place in zip(sizes, places, strict=False)
            if int(size)
        }

    @property
    def told(self) -> list[str]:
        """The text that `kernels.signature` reads, for each kernel."""
        return self._worker.told

    def launch(self, launch: Launch) -> None:
        """Run a kernel on copies of the arrays, and copy back what it wrote. Raises KernelError, SanitizerError."""
        with self._lock:
            if self._worker.ended():
                self._worker = self._started()
            try:
                self._worker.launch(launch)
            except BaseException:  # KeyboardInterrupt as well: the kernel may still run
                self._worker.end()
                raise
            if self._sanitized:  # a sanitizer numbers a program's threads through
                self._worker.end()

    def _started(self) -> "_Worker":
        worker = _Worker([str(self._file)])
        if "unexpected memory mapping" in worker.said:  # an older ThreadSanitizer, and addresses too random for it
            worker = _Worker(["setarch", "-R", str(self._file)])
        if worker.said:
            raise KernelError(f"the compiled kernels, {self._file}, do not start: {worker.said}")
        return worker


class _Worker:
    """One run of the program. The sides share a file in memory; they talk by a socket, a message at a time."""

    def __init__(self, command: list[str]):
        self._owner, self._program, self._name = os.getpid(), Path(command[-1]), Path(command[-1]).name
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._memory, self._output, self._errors = (
            FileIO(os.memfd_create(f"fourways {name}"), "r+") for name in ("arrays", "output", "errors")
        )
        for file in (self._output, self._errors):  # this side truncates them after each launch
            fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        environment = dict(os.environ)
        for name, ours in _SANITIZER_OPTIONS.items():
            environment[name] = f"{environment.get(name, '')}:{ours}".removeprefix(":")
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(self._memory.fileno())],
                stdin=theirs.fileno(),
                stdout=self._output.fileno(),
                stderr=self._errors.fileno(),
                pass_fds=[self._memory.fileno()],
                env=environment,
                start_new_session=True,  # Ctrl-C is for this Python, which then ends the program
            )
        self._socket.settimeout(0.5)  # see _reply
        files = (self._socket, self._memory, self._output, self._errors)
        self.end = weakref.finalize(self, _end, self._process, self._owner, files)
        is_ready = self._reply() == b"ready"
        told, _, rest = _taken(self._memory).partition(b"\n\n") if is_ready else (b"", b"", b"")
        variables, _, self.initial = (b"\n" + rest).partition(b"\n\n")
        self.told, self.variables = told.decode().splitlines(), variables.decode().strip()
        self.said = "" if is_ready else self._last_words()

    def ended(self) -> bool:
        """Whether it can launch nothing more: it has ended, or it belongs to the process that forked this one."""
        return not self.end.alive or self._process.poll() is not None or self._owner != os.getpid()

    def launch(self, launch: Launch) -> None:
        """Run a kernel, as `Process.launch` does; after an error the program cannot be used again."""
        layout = Layout(launch)
        layout.write(self._memory)
        self._socket.send(layout.description.to_bytes(8, sys.byteorder))
        reply = self._reply()
        if said := _taken(self._output).decode(errors="replace"):
            sys.stdout.write(said)
        if reply == b"done":
            layout.read_back(self._memory)
            sys.stderr.write(_taken(self._errors).decode(errors="replace"))
        elif reply.startswith(b"!"):
            raise KernelError(reply[1:].decode())
        elif is_race(reply):
            self._last_words()
            raise SanitizerError(explain_race(reply, launch, layout, self._program))
        elif reply:
            raise KernelError(explain(reply, launch, layout, self._last_words()))
        else:
            raise self._death(launch)
        if os.fstat(self._memory.fileno()).st_size > _KEPT:
            os.ftruncate(self._memory.fileno(), 0)

    def _reply(self) -> bytes:
        """Return the program's answer; an empty one if it ends."""
        while True:
            with contextlib.suppress(TimeoutError):  # after Ctrl-C in another thread, this one sees it here
                return self._socket.recv(65536)

    def _death(self, launch: Launch) -> KernelError:
        words = self._last_words()
        status = self._process.returncode
        if status == _FOUND:
            return SanitizerError(f"the sanitizer found a fault; no array was changed\n{words}")
        how = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return KernelError(f"{launch.name} ended its program {how}; no array was changed\n{words}".rstrip())

    def _last_words(self) -> str:
        self._process.wait()
        words = _taken(self._errors).decode(errors="replace")
        return words.replace(f"{self._name}: ", "").strip()  # assert begins with the program's name


def _end(process: subprocess.Popen, owner: int, files: tuple) -> None:
    for file in files:
        file.close()
    if owner == os.getpid():
        process.kill()
        process.wait()


def _taken(file: FileIO) -> bytes:
    text = os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)
    os.ftruncate(file.fileno(), 0)
    return text
