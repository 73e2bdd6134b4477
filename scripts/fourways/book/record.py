"""Recordings of complete GPU runs: stamped with all that they depend on, and without the names of the machine."""

import hashlib
import json
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from fourways import files, kernels, lesson, tables, toolchain
from fourways.lesson import device_folder


class RecordingError(RuntimeError):
    """A run that cannot be recorded. The message says why."""


def record(result: lesson.LessonRun) -> list[Path]:
    """Write a complete run to `book/recorded`, and the rows of its tables to `book/results`; return the files.

    Both are stamped. Nsight Compute's reports in `build/NN_slug` are copied to `book/figures`, for download.
    If the book holds a recording of another device, the run does not replace it: the run is written to
    `book/recorded/DEVICE` and `book/results/DEVICE`, and no report is copied. The book then shows both.
    Raises RecordingError, and writes nothing, if the run failed or skipped a cell. A cell may be skipped only if it
    lacks a package in `may_skip` of the lesson's front matter.
    """
    import nbformat

    target = result.lesson
    allowed = {toolchain.missing(package) for package in target.meta.get("may_skip", ())}
    skipped = {why: count for why, count in result.skipped.items() if why not in allowed}
    if result.error or skipped:
        reasons = result.error or "; ".join(f"{count} cells skipped: {why}" for why, count in skipped.items())
        raise RecordingError(f"{target.slug} is not recorded, only a complete run is: {reasons}")
    stamp = toolchain.stamp() | {"sources": fingerprint(target), "seconds": round(result.seconds, 1)}
    notebook = result.notebook
    notebook.metadata.setdefault("fourways", {})["stamp"] = stamp
    text = anonymous(nbformat.writes(notebook))
    book = kernels.root() / "book"
    folder = device_folder(stamp["device"])
    path = book / "recorded" / f"{target.slug}.ipynb"
    is_other = path.is_file() and device_folder(read_stamp(path)["device"]) != folder
    recorded = [(path.parent / folder / path.name if is_other else path, f"{text}\n".encode())]
    outputs = [output.get("data", {}) for cell in json.loads(text)["cells"] for output in cell.get("outputs", ())]
    bundles = [data[tables.MIME] for data in outputs if tables.MIME in data]
    if bundles:
        rows = files.results(stamp, {bundle["table"]: bundle["rows"] for bundle in bundles})
        recorded.append((book / "results" / folder / f"{target.slug}.json", rows.encode()))
    for report in sorted((kernels.root() / "build" / target.slug).glob("*.ncu-rep")) if not is_other else ():
        recorded.append((book / "figures" / report.name, anonymous_report(report.read_bytes())))
    for path, content in recorded:
        files.write_bytes(path, content)
    return [path for path, _ in recorded]


def read_stamp(recording: Path) -> dict[str, Any]:
    """Return the stamp of a recorded notebook."""
    return json.loads(recording.read_text(encoding="utf-8"))["metadata"]["fourways"]["stamp"]


def of_other_devices(recording: Path) -> list[Path]:
    """Return the recordings of other devices than the book's that stand beside one of the book's."""
    return sorted(recording.parent.glob(f"*/{recording.name}"))


def fingerprint(target: lesson.Lesson) -> dict[str, str]:
    """Return the SHA-256 of all that a recorded run depends on: the lesson's code cells, its kernels, their bindings.

    For a page without a kernel, the binding consists of the headers that every package carries.
    """
    cells = [(lesson.tags(cell), cell.source) for cell in target.notebook.cells if cell.cell_type == "code"]
    aot = kernels.root() / "cpp" / "aot"
    files_of = [aot / f"{name}.{end}" for name in target.kernels for end in ("cu", "cpp")]
    bindings = _with_headers(files_of or [aot / "gpu_array.cpp", aot.parent / "package" / "launch_arguments.hpp"])
    return {
        "cells": digest([repr(cells).encode()]),
        "kernel": digest(kernels.path(name).read_bytes() for name in target.kernels),
        "binding": digest(file.read_bytes() for file in bindings),
    }


def _with_headers(sources: Iterable[Path]) -> list[Path]:
    """Return the files that exist, the headers beside them that they include, and those headers' .cpp files."""
    collected = [file for file in sources if file.is_file()]
    for file in collected:  # grows
        for name in re.findall(r'^#include "([\w.]+)"', file.read_text(encoding="utf-8"), re.MULTILINE):
            if (header := file.with_name(name)).is_file():
                both = (header, header.with_suffix(".cpp"))
                collected += [each for each in both if each.is_file() and each not in collected]
    return collected


def digest(contents: Iterable[bytes]) -> str:
    """Return the SHA-256 of the contents, joined."""
    return hashlib.sha256(b"".join(contents)).hexdigest()


def _places() -> Iterator[tuple[Path, str, str]]:
    """Yield the folders that no recording may name, each with its replacements in a text and in a report."""
    outside = [(Path(sys.prefix), "venv", "/venv")] if sys.prefix != sys.base_prefix else []
    for place in ((kernels.root(), ".", "/four-ways"), *outside, (Path.home(), "~", "/home")):
        if len(place[0].parts) > 1:  # not the home folder / of some containers
            yield place


def anonymous(text: str) -> str:
    """Replace this machine's folders: the clone by `.`, the home folder by `~`, temporary ones by `/tmp/…`."""
    for place, instead, _ in _places():
        text = re.sub(rf"{re.escape(str(place))}(?![\w-])", instead, text)
    return re.sub(rf"(?:{re.escape(gettempdir())}|/tmp)/[\w.-]+", "/tmp/…", text)


def anonymous_report(report: bytes) -> bytes:
    """Replace this machine's folders, host name and addresses in the bytes of a report of Nsight Compute.

    Nsight Compute always stores its command line, the host's name and its addresses. Every replacement has the length
    of the original, so that the file format stays valid. Paths of system programs are kept.
    """
    for place, _, instead in _places():
        name = str(place).encode()
        report = re.sub(re.escape(name) + rb"(?![\w-])", _as_long(instead, name), report)
    host = socket.gethostname().encode()
    field, following = b"*" + bytes([len(host)]), b"0"  # tags of the file format, which is that of Protocol Buffers
    report = report.replace(field + host + following, field + _as_long("host", host) + following)
    address = rb"(?<=:[\x00-\x7f]\n[\x00-\x7f])[\da-f]*[:.][\da-f:.]+(?:%[\w.-]+)?(?=\x10)"
    return re.sub(address, lambda match: _as_long("address", match[0]), report)


def _as_long(instead: str, name: bytes) -> bytes:
    return instead.encode().ljust(len(name), b"_")[: len(name)]
