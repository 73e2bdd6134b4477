"""A plate cut into strips of rows, one for each GPU, and a step of the stencil on all of them.

A rank holds its own rows, and beside each neighbour's a *halo*: a copy of the row that lies there. After a step the
halos are old, and the neighbours send new ones. `launch(u, v)` is a step of the stencil on an array of any height: it
keeps the first and the last row. A strip has two rows of its own or more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ROUND = 20
"""Steps that are taken by one call, or by one launch of a graph."""


def own_rows(rank: int, count: int, height: int) -> range:
    """The rows of a plate of `height` that `rank` of `count` computes."""
    return range(rank * height // count, (rank + 1) * height // count)


@dataclass
class Side:
    """Where a strip meets a neighbour: whose, its halo's row, its own row beside it, and the three rows around that."""

    peer: int
    halo: int
    edge: int
    around: slice
    fresh: Any = None
    """An array of three rows, whose middle one is the edge after the step."""


@dataclass
class Strip:
    """One rank's part of the work. `main` and `link` are streams, `done` and `ready` events.

    `exchange(pairs, stream)` sends and receives: `pairs` are (side, row to send, row to fill).
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
    """A strip's neighbours: above, below, both or none."""
    found = []
    if rank > 0:
        found.append(Side(rank - 1, 0, 1, slice(0, 3)))
    if rank < count - 1:
        found.append(Side(rank + 1, -1, -2, slice(-3, None)))
    return found


def with_halos(rank: int, count: int, height: int) -> range:
    """The rows of a plate that a rank holds: its own, and a halo beside each neighbour's."""
    own = own_rows(rank, count, height)
    return range(own.start - (rank > 0), own.stop + (rank < count - 1))


def step_then_exchange(strip: Strip, u: Any, v: Any) -> None:
    """One step from u to v; when it is over, the halos of v."""
    with strip.main:
        strip.launch(u, v)
        strip.exchange([(side, v[side.edge], v[side.halo]) for side in strip.sides], strip.main)


def step_while_exchanging(strip: Strip, u: Any, v: Any) -> None:
    """One step from u to v; the halos of v travel while the rows between them are computed."""
    with strip.link:
        strip.link.wait_event(strip.done)  # all of u but its halos, which come on this stream
        for side in strip.sides:
            strip.launch(u[side.around], side.fresh)
        strip.ready.record(strip.link)
        strip.exchange([(side, side.fresh[1], v[side.halo]) for side in strip.sides], strip.link)
    with strip.main:
        strip.launch(u[strip.own], v[strip.own])  # reads no halo; keeps the edges as they were
        strip.main.wait_event(strip.ready)
        for side in strip.sides:
            v[side.edge] = side.fresh[1]
        strip.done.record(strip.main)


def steps_by_launches(step: Callable[[Strip, Any, Any], None], strip: Strip, u: Any, v: Any) -> Callable[[], None]:
    """A call that takes ROUND steps, from u to v and back; it launches each kernel, copy and exchange."""

    def take() -> None:
        for _ in range(ROUND // 2):
            step(strip, u, v)
            step(strip, v, u)

    return take


def steps_by_graph(strip: Strip, u: Any, v: Any, priorities: bool = True) -> Callable[[], None]:
    """The same by `step_while_exchanging` as a CUDA graph, in one launch. Take steps before, which load the kernels.

    Without `priorities`, all of the graph has the priority of the stream that it is launched into.
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
    strip.main.wait_event(strip.ready)  # a capture ends on the stream where it began, after all that others were given
    graph = builder.end_building().complete(GraphCompleteOptions(use_node_priority=priorities))
    return lambda: graph.launch(main)


@dataclass
class Part:
    """A strip in a process that has all of them: its GPU, its plates, its stream, and the event of its last step."""

    device: Any
    sides: list[Side]
    stream: Any
    stepped: Any
    u: Any
    v: Any


def step_with_peer_copies(parts: list[Part], launch: Callable[[Any, Any], None], copy: Callable[..., None]) -> None:
    """One step on all GPUs, from each part's u to its v; then the halos, and u is the newer again.

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
