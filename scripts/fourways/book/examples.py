"""The examples of the commands' pages: the files and words of each, and their runs, recorded on a GPU."""

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from fourways import building, choosing, files, kernels, lesson, linking, profiling, sass, timeline, timing, toolchain
from fourways.book.record import anonymous, digest

OWN = {
    "my.cu": """\
// A file of your own: what one Newton step makes of a guess of 1 for the square root of x.
extern "C" __global__ void newton(const float *x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 0.5f * (1.0f + x[i]);
}
""",
    "library.cu": """\
// A library: one function, which the caller links.
extern "C" __device__ float smooth(float a, float b)
{
    return 0.5f * (a + b);
}
""",
    "caller.cu": """\
// A kernel of your own that calls the library.
extern "C" __device__ float smooth(float a, float b);

extern "C" __global__ void neighbours(const float *x, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = smooth(x[i], x[i + 1 < n ? i + 1 : i]);
}
""",
    "struct.cu": """\
// Types of your own, and a template.
typedef unsigned short number;

struct Range {
    float low, high;
};

extern "C" __global__ void clip(const number *x, float *y, Range range, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = fminf(fmaxf(x[i], range.low), range.high);
}

template <class T>
__global__ void square(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}
""",
}
"""The files of the examples, by name. Recording puts them into a folder outside the clone."""


@dataclass(frozen=True)
class Command:
    """A command with a page: the module whose docstring explains it, and the runs that the page shows.

    `examples` are the words after the command's name. `drawn` says whether the command draws a figure.
    """

    name: str
    module: ModuleType
    examples: Sequence[str]
    drawn: bool = True


COMMANDS = (
    Command("time", timing, ("1 --sizes 2^10:2^28", "my.cu")),
    Command("signature", building.signature, ("struct.cu", "struct.cu --entry square<double>"), drawn=False),
    Command("build", building, ("1", "my.cu --arch all -c nvrtc -c nvcc")),
    Command("sass", sass, ("1", "my.cu --arch all -w nvrtc")),
    Command("link", linking, ("", "library.cu caller.cu --entry neighbours")),
    Command("profile", profiling, ("1 --clocks none", "my.cu --clocks none")),
    Command("timeline", timeline, ("1 --size 2^16",)),
    Command(
        "choose",
        choosing,
        ("--callers strangers --pythons 4 --systems 2", "--kernel 2us --launches 100000 --runs 1 --cold 0"),
    ),
)


class ExampleError(RuntimeError):
    """An example that could not be recorded; the message holds the command's error."""


def place(command: str, example: str, suffix: str, folder: str = "") -> Path:
    """Return the file in the book for an example's recorded rows (`suffix` ".json") or figure (".svg").

    `folder` is that of a device other than the book's (`lesson.device_folder`).
    """
    slug = "_".join([command, *(re.sub(r"[^\w.]+", "-", word.replace("^", "")).strip("-") for word in example.split())])
    kind = "results" if suffix == ".json" else "figures"
    return kernels.root() / "book" / kind / "commands" / folder / f"{slug}{suffix}"


def sources(command: str, example: str) -> str:
    """Return the SHA-256 of the files that a command's example uses."""
    if command == "choose":  # the costs of the ways, recorded by lessons 00 and 01
        recorded = [path for name in ("00_two_workflows", "01_doublify") for path in lesson.results(name)[:1]]
        return digest(path.read_bytes() for path in recorded)
    if own := own_texts(example):
        return digest(text.encode() for text in own)
    # of the program of `fourways link`, whose first unit includes this kernel
    units = [*sorted((kernels.root() / "cpp" / "link").glob("*.cu")), kernels.path("apply_transform")]
    paths = [lesson.kernel_file(example.split()[0])] if example else units
    return digest(path.read_bytes() for path in paths)


def own_texts(example: str) -> list[str]:
    """Return the texts of OWN that a command's example uses."""
    return [OWN[word] for word in example.split() if word in OWN]


def record_example(command: Command, example: str) -> list[Path]:
    """Run an example, write its rows and its figure into the book, and return these files.

    If the book holds a recording of another GPU, the files go to a folder of this one beside it. Raises ExampleError,
    and writes nothing, if the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, text in OWN.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        words = [command.name, *shlex.split(example), "--json", "rows.json"]
        words += ["--figure", "figure.svg"] if command.drawn else []
        call = [sys.executable, "-m", "fourways", *words]
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, env=toolchain.child_environment())
        if done.returncode:
            raise ExampleError(f"fourways {command.name} {example}: {files.plain(done.stderr).strip()}")
        content = json.loads(Path(folder, "rows.json").read_text(encoding="utf-8"))
        warnings = [line for line in done.stderr.splitlines() if line.startswith("Doubtful")]
        more = {"command": f"fourways {command.name} {example}".strip(), "sources": sources(command.name, example)}
        text = anonymous(files.results(content["stamp"], content["tables"], **more, warnings=warnings))
        figure = Path(folder, "figure.svg").read_bytes() if command.drawn else b""
    folder = _folder(place(command.name, example, ".json"), content["stamp"]["device"])
    rows_file, figure_file = (place(command.name, example, suffix, folder) for suffix in (".json", ".svg"))
    files.write_text(rows_file, text)
    if not command.drawn:
        return [rows_file]
    files.write_bytes(figure_file, figure)
    return [rows_file, figure_file]


def _folder(recorded: Path, device: str | None) -> str:
    """Return the folder for a recording on `device`: "" unless the file in the book is of another GPU."""
    of_book = json.loads(recorded.read_text(encoding="utf-8"))["stamp"]["device"] if recorded.is_file() else None
    return lesson.device_folder(device) if device and of_book and device != of_book else ""


def record_examples(names: Sequence[str]) -> int:
    """Record the examples of the named commands (default: all).

    Returns an exit code: 0, 1 if an example failed, or 2 for a command without a page.
    """
    failed, known = 0, [command.name for command in COMMANDS]
    if unknown := [name for name in names if name not in known]:
        print(f"no page on {unknown[0]!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for command in COMMANDS:
        for example in command.examples if not names or command.name in names else ():
            try:
                for path in record_example(command, example):
                    print(f"recorded {files.short(path)}")
            except ExampleError as error:
                failed = 1
                print(error, file=sys.stderr)
    return failed
