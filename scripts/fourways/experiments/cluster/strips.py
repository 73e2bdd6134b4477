"""A plate cut into strips of rows, one strip for each GPU, and steps of the stencil on all strips.

A rank holds its own rows, and for each neighbour a *halo*: a copy of the neighbour's nearest row. After a step the
halos are old, and the neighbours send new ones. `launch(u, v)` is a step of the stencil on an array of any height; it
does not change the first and the last row. A strip has at least two rows of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ROUND = 20
"""The number of steps in one call, or in one launch of a graph."""


def own_rows(rank: int, count: int, height: int) -> range:
    """Return the rows of a plate of `height` rows that `rank` of `count` ranks computes."""
    return range(rank * height // count, (rank + 1) * height // count)


@dataclass
class Side:
    """A border of a strip: the neighbour's rank, its halo's row, the strip's `edge` row, and three rows around it."""

    peer: int
    halo: int
    edge: int
    around: slice
    fresh: Any = None
    """An array of three rows; the middle row is the edge after the step."""


@dataclass
class Strip:
    """A rank's part of the work. `main` and `link` are streams, `done` and `ready` events.

    `exchange(pairs, stream)` sends and receives rows: `pairs` are (side, row to send, row to fill).
    """

    launch: Callable[[Any, Any], None]
    exchange: Callable[[list, Any], None]
    sides: list[Side]
    main: Any
    link: Any
    done: Any
    ready: Any
    own: slice = field(init=False)

    def __post_init__(self) -> None:
        halos = [side.halo for side in self.sides]
        self.own = slice(1 if 0 in halos else 0, -1 if -1 in halos else None)


def sides(rank: int, count: int) -> list[Side]:
    """Return the borders of a strip with its neighbours: above, below, both or none."""
    neighbours = []
    if rank > 0:
        neighbours.append(Side(rank - 1, 0, 1, slice(0, 3)))
    if rank < count - 1:
        neighbours.append(Side(rank + 1, -1, -2, slice(-3, None)))
    return neighbours


def with_halos(rank: int, count: int, height: int) -> range:
    """Return the rows of a plate that a rank holds: its own, and a halo for each neighbour."""
    own = own_rows(rank, count, height)
    return range(own.start - (rank > 0), own.stop + (rank < count - 1))


def step_then_exchange(strip: Strip, u: Any, v: Any) -> None:
    """Take a step from u to v, then exchange the halos of v."""
    with strip.main:
        strip.launch(u, v)
        strip.exchange([(side, v[side.edge], v[side.halo]) for side in strip.sides], strip.main)


def step_while_exchanging(strip: Strip, u: Any, v: Any) -> None:
    """Take a step from u to v, and exchange the halos of v while the rows between them are computed."""
    with strip.link:
        strip.link.wait_event(strip.done)  # all of u except its halos, which arrive on this stream
        for side in strip.sides:
            strip.launch(u[side.around], side.fresh)
        strip.ready.record(strip.link)
        strip.exchange([(side, side.fresh[1], v[side.halo]) for side in strip.sides], strip.link)
    with strip.main:
        strip.launch(u[strip.own], v[strip.own])  # reads no halo, and does not change the edges
        strip.main.wait_event(strip.ready)
        for side in strip.sides:
            v[side.edge] = side.fresh[1]
        strip.done.record(strip.main)


def steps_by_launches(step: Callable[[Strip, Any, Any], None], strip: Strip, u: Any, v: Any) -> Callable[[], None]:
    """Return a call that takes ROUND steps, from u to v and back, and launches each kernel, copy and exchange."""

    def take() -> None:
        for _ in range(ROUND // 2):
            step(strip, u, v)
            step(strip, v, u)

    return take


def steps_by_graph(strip: Strip, u: Any, v: Any, priorities: bool = True) -> Callable[[], None]:
    """Return a call that takes ROUND steps by `step_while_exchanging` in one launch of a CUDA graph.

    Take steps before, to load the kernels. Without `priorities`, the whole graph has the priority of the stream that it
    is launched into.
    """
    from cuda.core import Device
    from cuda.core.graph import GraphCompleteOptions

    device = Device()
    device.set_current()
    main = device.create_stream(strip.main)
    builder = main.create_graph_builder().begin_building()
    strip.done.record(strip.main)
    steps_by_launches(step_while_exchanging, strip, u, v)()
    strip.ready.record(strip.link)
    strip.main.wait_event(strip.ready)  # a capture must end on its first stream, after the work of all other streams
    graph = builder.end_building().complete(GraphCompleteOptions(use_node_priority=priorities))
    return lambda: graph.launch(main)


@dataclass
class Part:
    """A strip in a process that drives all GPUs: its GPU, its plates, its stream, and the event of its last step."""

    device: Any
    sides: list[Side]
    stream: Any
    stepped: Any
    u: Any
    v: Any


def step_with_peer_copies(parts: list[Part], launch: Callable[[Any, Any], None], copy: Callable[..., None]) -> None:
    """Take a step on all GPUs from each part's u to its v, copy the halos, and swap u and v.

    `copy(halo, part, row, peer)` copies a row from the GPU of `peer` to that of `part`, on the stream of `part`.
    """
    for part in parts:
        with part.device, part.stream:
            launch(part.u, part.v)
            part.stepped.record(part.stream)
    for part in parts:
        with part.device, part.stream:
            for side in part.sides:
                peer = parts[side.peer]
                part.stream.wait_event(peer.stepped)
                copy(part.v[side.halo], part, peer.v[-2 if side.halo == 0 else 1], peer)
    for part in parts:
        part.u, part.v = part.v, part.u
