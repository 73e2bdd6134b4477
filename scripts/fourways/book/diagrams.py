"""The drawn figures of the book as SVG: edit loops, from source to machine code, who computes what, who waits for whom.

They lie in `book/figures`, each in a light and a dark variant, byte for byte the same at every run, tall and narrow, so
that their text stays readable on a phone.
"""

from collections.abc import Callable, Sequence

from fourways import files, kernels
from fourways.book.canvas import BOX, THEMES, WIDTH, Canvas
from fourways.figures import COLOURS

ACCENT = "#D55E00"  # no way's colour: marks the step that compiles
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


TIMES = {"copy in": 2, "compute": 1, "copy out": 1}  # of a chunk, as in lesson 11's exercise on events
CHUNKS = 3


def streams_and_events(theme: str) -> str:
    """Chunks in one stream, and beside it in a stream for each stage, where events say who waits for whom."""
    canvas = Canvas(theme)
    unit, top, width = 33, 60, 76  # a unit of time, time 0, a box of work
    single, queues = 49, (170, 252, 334)  # the streams' middles
    total = sum(TIMES.values())
    end = top + unit * CHUNKS * total
    over = end - unit * (CHUNKS - 1) * (total - TIMES["copy in"])  # all copies in, and the last chunk's other stages

    def work(x: float, y: float, stage: str, chunk: int) -> None:
        height = unit * TIMES[stage] - 10
        canvas.rectangle(x - width / 2, y + 5, width, height, "box", "line", 4)
        canvas.text(x, y + 9.5 + height / 2, f"{stage} {chunk}", 12)

    for left, right, label in ((2, 96, "one stream"), (126, 378, "a stream for each stage")):
        canvas.rectangle(left, 2, right - left, end + 6, "frame", "frame", 10)
        canvas.text((left + right) / 2, 21, label, 12.5, style='font-weight="600"')
    canvas.arrow([(105, top), (105, end)])
    canvas.text(0, 0, "time", 12, "soft", f'transform="translate(111 {(top + end) / 2:g}) rotate(90)"')
    canvas.stream(single, top, end)
    for x, name in zip(queues, ("into", "compute", "out"), strict=True):
        canvas.text(x, 42, name, 12, "soft")
        canvas.stream(x, top, over)
    for chunk in range(CHUNKS):
        alone, beside = (top + unit * chunk * before for before in (total, TIMES["copy in"]))
        for number, (stage, time) in enumerate(TIMES.items()):
            work(single, alone, stage, chunk)
            work(queues[number], beside, stage, chunk)
            alone, beside = alone + unit * time, beside + unit * time
            if number < 2:
                canvas.event([(queues[number], beside), (queues[number + 1], beside)], ACCENT)
    canvas.text(252, over + 46, "an event: a dot in one stream;", 12)
    canvas.text(252, over + 66, "at the arrow's tip another waits for it", 12)
    canvas.text(252, over + 92, f"the stages' times: {', '.join(map(str, TIMES.values()))}", 12, "soft")
    return canvas.svg(
        end + 10,
        "One stream, and three that wait for each other",
        "Three chunks. In one stream all nine pieces of work follow each other. With a stream for each stage, copies "
        "in follow each other; each kernel waits for an event after its chunk's copy in, each copy out for one after "
        "its chunk's kernel. While one chunk is computed and goes out, the next comes in, and all is over earlier.",
    )


STRIPS, ROWS = 3, 12


def strips_of_a_plate(theme: str) -> str:
    """A plate of rows cut into strips, one for each GPU, with halos, and which row travels where."""
    canvas = Canvas(theme)
    high, own, top = 20, ROWS // STRIPS, 34
    apart = 2 * high + 22  # two halos, their frames' rims, and room between these
    left, right = 212, 316  # of the rows that a GPU holds

    def place(row: int, rank: int) -> float:
        return top + row * high + rank * apart

    def draw(x: float, width: float, y: float, words: str, fill: str = "box", edge: str = "line") -> None:
        canvas.rectangle(x, y + 1, width, high - 2, fill, edge, 4)
        canvas.text(x + width / 2, y + 14.5, words, 12)

    canvas.text(46, 16, "the plate", 12.5, style='font-weight="600"')
    canvas.text((left + right) / 2, 16, "what each GPU holds", 12.5, style='font-weight="600"')
    for rank in range(STRIPS):
        first, last = rank * own, (rank + 1) * own - 1
        sides = [(edge, halo) for edge, halo in ((first, first - 1), (last, last + 1)) if 0 <= halo < ROWS]
        edges, halos = zip(*sides, strict=True)
        start, middle = place(min(first, *halos), rank) - 6, place(first, rank) + own * high / 2
        canvas.rectangle(114, start, 264, place(max(last, *halos) + 1, rank) + 6 - start, "frame", "frame", 10)
        canvas.text(148, middle + 5, f"GPU {rank}", 14.5, style='font-weight="600"')
        canvas.arrow([(90, middle), (114, middle)])
        for row in range(first, last + 1):
            words, mark = (f"row {row}, edge", ACCENT) if row in edges else (f"row {row}", "line")
            draw(2, 88, place(row, rank), f"row {row}")
            draw(left, right - left, place(row, rank), words, edge=mark)
        for row in halos:
            draw(left, right - left, place(row, rank), f"row {row}, halo", fill="frame")
    for upper in range(STRIPS - 1):
        lower, row = upper + 1, (upper + 1) * own
        for x, turn, ends in (
            (right, right + 24, (place(row - 1, upper), place(row - 1, lower))),
            (left, left - 24, (place(row, lower), place(row, upper))),
        ):
            start, stop = (y + high / 2 for y in ends)
            canvas.arrow([(x, start), (turn, start), (turn, stop), (x, stop)], ACCENT)
    bottom = place(ROWS, STRIPS - 1) + 30
    canvas.text(WIDTH / 2, bottom, "edge: the row beside a neighbour's", 12)
    canvas.text(WIDTH / 2, bottom + 20, "halo: a neighbour's edge, copied anew after each step", 12)
    return canvas.svg(
        bottom + 28,
        "A plate on three GPUs",
        "Twelve rows, cut into three strips of four. GPU 0 holds rows 0 to 3 and a halo of row 4, GPU 1 rows 4 to 7 "
        "and halos of rows 3 and 8, GPU 2 rows 8 to 11 and a halo of row 7. After each step rows 3 and 7 travel down "
        "to the next GPU's halo, rows 4 and 8 up.",
    )


def step_of_a_strip(theme: str) -> str:
    """The order of a step in the two streams of a strip: edges, then halos beside the rows between."""
    canvas = Canvas(theme)
    link, main, half = 95, 285, 82  # the streams' middles, half a box
    edges, halos, waits, copied, again = 58, 134, 189, 202, 278  # where each begins
    for x, name, note, after in (
        (link, "link", "the higher priority", "the next step's edges"),
        (main, "main", "the default priority", "the next rows between"),
    ):
        canvas.rectangle(x - half - 11, 2, 2 * half + 22, again + 50, "frame", "frame", 10)
        canvas.text(x, 21, name, 14.5, style='font-weight="600"')
        canvas.text(x, 39, note, 12, "soft")
        canvas.stream(x, edges - 8, again)
        canvas.rectangle(x - half, again, 2 * half, 38, "frame", "line")
        canvas.text(x, again + 23.5, after, colour="soft")
    canvas.box(link - half, edges, 2 * half, "Edges", "a launch for each side", ACCENT)
    canvas.box(link - half, halos, 2 * half, "Halos travel", "edges out, new halos in", ACCENT)
    canvas.rectangle(main - half, edges, 2 * half, waits - 13 - edges, "box", "line")
    canvas.text(main, 113, "Rows between", 14.5, style='font-weight="600"')
    canvas.text(main, 131, "they read no halo", colour="soft")
    canvas.box(main - half, copied, 2 * half, "Edges copied", "to their rows")
    ready, done = halos - 13, again - 13
    canvas.event([(link, ready), (190, ready), (190, waits), (main, waits)], ACCENT)
    canvas.event([(main, done), (link, done)], ACCENT)
    canvas.text(link - 30, ready + 4.5, "ready", 12)
    canvas.text(main + 30, done + 4.5, "done", 12)
    canvas.text(WIDTH / 2, again + 74, "an event: a dot; at the arrow's tip the other stream waits", 12)
    return canvas.svg(
        again + 84,
        "A step of a strip in two streams",
        "Stream link, of the higher priority, computes the edges and records the event ready; then the halos travel. "
        "Meanwhile stream main computes the rows between, waits for ready, copies the edges to their rows and records "
        "the event done. The next step's edges wait for done, and for the halos, which came on the same stream.",
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
