"""Keeps what a complete GPU run of a lesson gave, stamped with what it depends on, and without the machine's names."""

import hashlib
import json
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import gettempdir

from fourways import files, kernels, lesson, tables, toolchain


class RecordingError(RuntimeError):
    """A run that cannot be recorded. The message says why."""


def record(result: lesson.LessonRun) -> list[Path]:
    """Write a complete run to `book/recorded` and its tables' rows to `book/results`, stamped; return the files.

    Nsight Compute's reports that the lesson left in `build/NN_slug` go to `book/figures`, for download.
    Raises RecordingError for a run that failed or skipped a cell, and writes nothing then. A cell may be skipped for
    want of a package that the lesson's front matter lists in `may_skip`.
    """
    import nbformat

    found = result.lesson
    allowed = {toolchain.missing(package) for package in found.meta.get("may_skip", ())}
    skipped = {why: count for why, count in result.skipped.items() if why not in allowed}
    if result.error or skipped:
        reasons = result.error or "; ".join(f"{count} cells skipped: {why}" for why, count in skipped.items())
        raise RecordingError(f"{found.slug} is not recorded, only a complete run is: {reasons}")
    stamp = toolchain.stamp() | {"sources": fingerprint(found), "seconds": round(result.seconds, 1)}
    notebook = result.notebook
    notebook.metadata.setdefault("fourways", {})["stamp"] = stamp
    text = anonymous(nbformat.writes(notebook))
    book = kernels.root() / "book"
    recorded = [(book / "recorded" / f"{found.slug}.ipynb", f"{text}\n".encode())]
    outputs = [output.get("data", {}) for cell in json.loads(text)["cells"] for output in cell.get("outputs", ())]
    bundles = [data[tables.MIME] for data in outputs if tables.MIME in data]
    if bundles:
        device = re.sub(r"[^a-z0-9]+", "-", str(stamp["device"]).lower()).strip("-")
        rows = files.results(stamp, {bundle["table"]: bundle["rows"] for bundle in bundles})
        recorded.append((book / "results" / device / f"{found.slug}.json", rows.encode()))
    for report in sorted((kernels.root() / "build" / found.slug).glob("*.ncu-rep")):
        recorded.append((book / "figures" / report.name, anonymous_report(report.read_bytes())))
    for path, content in recorded:
        files.write_bytes(path, content)
    return [path for path, _ in recorded]


def fingerprint(found: lesson.Lesson) -> dict[str, str]:
    """The SHA-256 of what a recorded run depends on: the lesson's code cells, its kernels and their bindings.

    Of a page without a kernel the binding is what every package carries along.
    """
    cells = [(lesson.tags(cell), cell.source) for cell in found.notebook.cells if cell.cell_type == "code"]
    names = [*([found.meta["kernel"]] if "kernel" in found.meta else []), *found.meta.get("also", ())]
    aot = kernels.root() / "cpp" / "aot"
    files_of = [aot / f"{name}.{end}" for name in names for end in ("cu", "cpp")]
    bindings = _with_headers(files_of or [aot / "gpu_array.cpp", aot.parent / "package" / "launch_arguments.hpp"])
    return {
        "cells": digest([repr(cells).encode()]),
        "kernel": digest(kernels.path(name).read_bytes() for name in names),
        "binding": digest(file.read_bytes() for file in bindings),
    }


def _with_headers(sources: Iterable[Path]) -> list[Path]:
    """Those of these files that exist, the headers beside them that they include, and the .cpp of such a header."""
    found = [file for file in sources if file.is_file()]
    for file in found:  # grows
        for name in re.findall(r'^#include "([\w.]+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
            if (header := file.with_name(name)).is_file():
                both = (header, header.with_suffix(".cpp"))
                found += [each for each in both if each.is_file() and each not in found]
    return found


def digest(contents: Iterable[bytes]) -> str:
    """The SHA-256 of what files hold, one after another."""
    return hashlib.sha256(b"".join(contents)).hexdigest()


def _places() -> Iterator[tuple[Path, str, str]]:
    """This machine's folders that no record may name: with what stands for them in a text, and in a report."""
    outside = [(Path(sys.prefix), "venv", "/venv")] if sys.prefix != sys.base_prefix else []
    for place in ((kernels.root(), ".", "/four-ways"), *outside, (Path.home(), "~", "/home")):
        if len(place[0].parts) > 1:  # not the home folder / of some containers
            yield place


def anonymous(text: str) -> str:
    """`text` without this machine's folders: the clone becomes `.`, the home folder `~`, temporary ones `/tmp/…`."""
    for place, instead, _ in _places():
        text = re.sub(rf"{re.escape(str(place))}(?![\w-])", instead, text)
    return re.sub(rf"(?:{re.escape(gettempdir())}|/tmp)/[\w.-]+", "/tmp/…", text)


def anonymous_report(report: bytes) -> bytes:
    """A report's bytes without this machine's folders, host name and addresses, so that it can be given away.

    Nsight Compute has no option for that: it notes its command line, the host and the host's addresses. What takes
    their place is as long as they are, so that nothing else in the file moves. Programs of the system keep their paths.
    """
    for place, _, instead in _places():
        name = str(place).encode()
        report = re.sub(re.escape(name) + rb"(?![\w-])", _as_long(instead, name), report)
    host = socket.gethostname().encode()
    field, following = b"*" + bytes([len(host)]), b"0"  # tags of the file format, which is that of Protocol Buffers
    report = report.replace(field + host + following, field + _as_long("host", host) + following)
    address = rb"(?<=:[\x00-\x7f]\n[\x00-\x7f])[\da-f]*[:.][\da-f:.]+(?:%[\w.-]+)?(?=\x10)"
    return re.sub(address, lambda found: _as_long("address", found[0]), report)


def _as_long(instead: str, name: bytes) -> bytes:
    return instead.encode().ljust(len(name), b"_")[: len(name)]
