"""The drawn figures of lessons 11 and 13: streams, events, and strips of a plate: who waits for whom."""

from fourways.book.canvas import ACCENT, WIDTH, Canvas

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
