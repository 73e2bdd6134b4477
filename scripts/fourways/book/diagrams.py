"""The drawn figures of the book as SVG: edit loops, from source to machine code, who computes what, who waits for whom.

They lie in `book/figures`, each in a light and a dark variant, byte for byte the same at every run, tall and narrow, so
that their text stays readable on a phone.
"""

from collections.abc import Callable, Sequence

from fourways import files, kernels
from fourways.book.canvas import ACCENT, BOX, THEMES, WIDTH, Canvas
from fourways.book.waiting import step_of_a_strip, streams_and_events, strips_of_a_plate
from fourways.figures import COLOURS

GAP = 24  # length of an arrow

Steps = Sequence[tuple[str, str]]


def _edit_loop(canvas: Canvas, frames: Sequence[tuple[str, Steps]], compiles: str) -> float:
    """A column of steps, framed by where they happen, and the way back to the edit. Returns the height.

    Each frame is (label, steps); one without a label is drawn as bare boxes. `compiles` names the step to mark.
    """
    left, width, y = 14.0, 304.0, 2.0
    middle = left + width / 2
    first = last = 0.0
    for label, steps in frames:
        inset = 12 if label else 0
        top = y
        if label:
            y += 28
            bottom = y + len(steps) * BOX + (len(steps) - 1) * GAP + inset
            canvas.rectangle(left, top, width, bottom - top, "frame", "frame", 10)
            canvas.text(middle, top + 19, label, 12.5, style='font-weight="600"')
        for number, (title, note) in enumerate(steps):
            if number:
                canvas.arrow([(middle, y - GAP), (middle, y)])
            canvas.box(left + inset, y, width - 2 * inset, title, note, ACCENT if title == compiles else "line")
            first, last = first or y + BOX / 2, y + BOX / 2
            y += BOX + GAP
        y += inset - GAP
        if frames[-1][1] is not steps:
            canvas.arrow([(middle, y), (middle, y + GAP)])
            y += GAP
    back = left + width + 26
    end = left + width - (12 if frames[-1][0] else 0)
    canvas.arrow([(end, last), (back, last), (back, first), (left + width, first)])
    turned = f'transform="translate({back + 18:g} {(first + last) / 2:g}) rotate(90)"'
    canvas.text(0, 0, "the next idea", 12.5, "soft", turned)
    return y + 2


def edit_loop_jit(theme: str) -> str:
    """The edit loop just in time: everything after the edit happens inside one running Python process."""
    canvas = Canvas(theme)
    inside = [
        ("Run the cell", "Python hands the text to a compiler"),
        ("Compile", "NVRTC, a library, or nvcc, a program"),
        ("Load", "machine code goes to the GPU"),
        ("Launch", "the kernel runs: new result"),
    ]
    frames = [("", [("Edit", "the kernel's text")]), ("the same Python process goes on", inside)]
    return canvas.svg(
        _edit_loop(canvas, frames, compiles="Compile"),
        "The edit loop, just in time",
        "Edit the kernel's text. Inside the same running Python process: run the cell, compile with NVRTC or nvcc, "
        "load the machine code, launch the kernel and see the new result. Then edit again.",
    )


def edit_loop_aot(theme: str) -> str:
    """The edit loop ahead of time: a build before Python, then a fresh Python process."""
    canvas = Canvas(theme)
    build = [
        ("CMake", "finds out what the edit touches"),
        ("nvcc", "compiles for each architecture"),
        ("Link", "a module that Python can import"),
    ]
    python = [
        ("Start Python again", "an imported module stays as it is"),
        ("import", "the machine code comes with it"),
        ("Call", "the kernel runs: new result"),
    ]
    frames = [
        ("", [("Edit", "the kernel's file")]),
        ("the build, before Python starts", build),
        ("a fresh Python process", python),
    ]
    return canvas.svg(
        _edit_loop(canvas, frames, compiles="nvcc"),
        "The edit loop, ahead of time",
        "Edit the kernel's file. Build: CMake finds out what the edit touches, nvcc compiles for each architecture, "
        "the linker makes a module. Then start a fresh Python process, import the module, call it and see the new "
        "result. Then edit again.",
    )


LANES = (
    ("nvrtc", "CuPy", "NVRTC", "NVRTC"),
    ("nvcc", "CuPy", "NVCC", "nvcc"),
    ("pycuda", "PyCUDA", "NVCC", "nvcc"),
    ("pybind11", "pybind11", "CMake", "nvcc"),
)


def from_source_to_gpu(theme: str) -> str:
    """CUDA C++ to PTX to cubin to GPU, a lane for each way with the tool at every step."""
    canvas = Canvas(theme)
    centres = [WIDTH / 8 + 4 + index * (WIDTH - 8) / 4 - 2.5 for index in range(4)]
    canvas.text((centres[0] + centres[2]) / 2, 16, "just in time", 12.5, "soft")
    canvas.text(centres[3], 16, "ahead of time", 12.5, "soft")
    for x0, x1 in ((centres[0] - 40, centres[2] + 40), (centres[3] - 40, centres[3] + 40)):
        line = canvas.colour["line"]
        canvas.elements.append(f'<path d="M{x0:g},23 H{x1:g}" stroke="{line}" stroke-width="1.5"/>')
    for x, (way, library, how, _) in zip(centres, LANES, strict=True):
        canvas.rectangle(x - 40, 31, 80, 42, "box", COLOURS[way])
        canvas.text(x, 49, library, 13, style='font-weight="600"')
        canvas.text(x, 65, how, 12, "soft")

    stages = (
        ("CUDA C++", "one text for all ways", [lane[3] for lane in LANES]),
        ("PTX", "assembly for GPUs in general", ["ptxas inside", "ptxas", "ptxas", "ptxas"]),
        ("cubin", "machine code of one architecture", ["driver loads", "driver loads", "driver loads", "in a fatbin"]),
    )
    y = 73.0 + GAP
    for x, lane in zip(centres, LANES, strict=True):
        canvas.arrow([(x, 73), (x, y)], COLOURS[lane[0]])
    for title, note, tools in stages:
        canvas.box(2, y, WIDTH - 4, title, note)
        y += BOX
        for x, lane, tool in zip(centres, LANES, tools, strict=True):
            canvas.arrow([(x, y), (x, y + 66)], COLOURS[lane[0]])
            canvas.rectangle(x - 42, y + 16, 84, 26, "frame", COLOURS[lane[0]], 13)
            canvas.text(x, y + 33.5, tool, 12)
        y += 66
    canvas.box(2, y, WIDTH - 4, "GPU", "the driver launches the kernel")
    return canvas.svg(
        y + BOX + 2,
        "From source to machine code, in four ways",
        "CUDA C++ becomes PTX by NVRTC in CuPy's NVRTC way and by nvcc in the other three. PTX becomes a cubin by "
        "ptxas, which NVRTC contains and nvcc calls. Just in time, the driver loads the cubin; ahead of time, it lies "
        "in the module's fatbin, from which the driver loads it.",
    )


BLOCKS, THREADS, ELEMENTS = 3, 4, 20
CELL = 26  # width of a thread or an element, and the distance between rows


def threads_of_a_grid(theme: str) -> str:
    """Grid, blocks and threads of a grid-stride loop over an array, one thread marked with its two elements."""
    canvas = Canvas(theme)
    width = THREADS * CELL + 14
    gap = (WIDTH - 4 - BLOCKS * width) / (BLOCKS - 1)
    stride, marked = BLOCKS * THREADS, 6
    lefts = [2 + (i // THREADS) * (width + gap) + 7 + (i % THREADS) * CELL for i in range(stride)]

    def cell(i: int, y: float, words: int) -> None:
        chosen = i % stride == marked
        edge = ACCENT if chosen else "line"
        canvas.rectangle(lefts[i % stride] + 1, y, CELL - 2, CELL - 2, "box", edge, 4)
        canvas.text(lefts[i % stride] + CELL / 2, y + 16.5, str(words), style='font-weight="600"' if chosen else "")

    canvas.text(WIDTH / 2, 14, f"gridDim.x = {BLOCKS} blocks, blockDim.x = {THREADS} threads each")
    for block in range(BLOCKS):
        left = 2 + block * (width + gap)
        canvas.rectangle(left, 24, width, 80, "frame", "frame", 10)
        canvas.text(left + width / 2, 42, f"blockIdx.x = {block}", style='font-weight="600"')
        canvas.text(left + width / 2, 59, "threadIdx.x", 12, "soft")
    for i in range(stride):
        cell(i, 71, i % THREADS)
    for i in range(ELEMENTS):
        x, y = lefts[i % stride] + CELL / 2, 130 + (i // stride) * 2 * CELL
        start = 71 + CELL - 2 if i < stride else y - CELL - 2
        canvas.arrow([(x, start), (x, y)], ACCENT if i % stride == marked else "line")
        cell(i, y, i)
    canvas.text(lefts[ELEMENTS % stride] + 2 * CELL, 130 + 2 * CELL + 16.5, "i < n is false", 12, "soft")
    block, thread = divmod(marked, THREADS)
    for line, words in enumerate(
        (
            f"the array's n = {ELEMENTS} elements, by their i",
            f"i = blockIdx.x * blockDim.x + threadIdx.x: {block} * {THREADS} + {thread} = {marked}",
            f"i += gridDim.x * blockDim.x: {marked} + {stride} = {marked + stride}",
        )
    ):
        canvas.text(WIDTH / 2, 226 + 20 * line, words, 12, "ink" if line else "soft")
    return canvas.svg(
        278,
        "Grid, blocks and threads",
        f"A grid of {BLOCKS} blocks with {THREADS} threads each goes over an array of {ELEMENTS} elements. Thread "
        f"{thread} of block {block} takes element {block} * {THREADS} + {thread} = {marked}, and in its second round "
        f"element {marked} + {stride} = {marked + stride}. Where there is no such element, the loop is over.",
    )


def long_scan(theme: str) -> str:
    """The tiles of three blocks in long_scan.cuh, a row for each round, and what block 0 does in its third round."""
    canvas = Canvas(theme)
    notes = {0: "before", 1: "between", 2: "between", 3: "finished now", 6: "published, parked"}
    width = (WIDTH - 4) / 3
    for tile in range(9):
        left, y = 2 + tile % 3 * width, 26 + tile // 3 * (BOX + 12)
        if tile < 3:
            canvas.text(left + width / 2, 16, f"block {tile}", 12.5, "soft")
        edge = ACCENT if tile in (3, 6) else "line"
        if tile in notes:
            canvas.box(left + 2, y, width - 4, f"tile {tile}", notes[tile], edge)
        else:
            canvas.rectangle(left + 2, y, width - 4, BOX, "frame", edge)
            canvas.text(left + width / 2, y + 30, f"tile {tile}", 14.5, "soft")
    bottom = 26 + 3 * (BOX + 12)
    canvas.text(WIDTH / 2, bottom + 12, "Block 0 in its third round: it has just scanned tile 6.")
    canvas.text(WIDTH / 2, bottom + 31, "To tile 3 it adds start = before + between.")
    return canvas.svg(
        bottom + 40,
        "Three blocks scan one long array",
        "Nine tiles in three rows, a row for each round: block 0 has tiles 0, 3 and 6, block 1 has 1, 4 and 7, block 2 "
        "has 2, 5 and 8. In its third round block 0 scans tile 6, publishes its sum and parks it. Then it finishes "
        "tile 3: it adds the sum up to tile 0, which it knows, and the published sums of tiles 1 and 2.",
    )


FIGURES: dict[str, Callable[[str], str]] = {
    "edit_loop_jit": edit_loop_jit,
    "edit_loop_aot": edit_loop_aot,
    "from_source_to_gpu": from_source_to_gpu,
    "threads_of_a_grid": threads_of_a_grid,
    "long_scan": long_scan,
    "streams_and_events": streams_and_events,
    "strips_of_a_plate": strips_of_a_plate,
    "step_of_a_strip": step_of_a_strip,
}
"""Every figure by name: a function from the theme (`light`, `dark`) to the SVG text."""


def drawings() -> dict[str, str]:
    """The drawn files of `book/figures` by name: `{"edit_loop_jit_light.svg": "<svg …", …}`."""
    return {f"{name}_{theme}.svg": figure(theme) for name, figure in FIGURES.items() for theme in THEMES}


def main() -> None:
    """Write every figure to `book/figures` and print its path."""
    for name, text in drawings().items():
        path = kernels.root() / "book" / "figures" / name
        files.write_text(path, text)
        print(path)
