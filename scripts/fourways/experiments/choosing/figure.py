"""The figure of total time against launches, with a line for each way."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fourways import figures, tables
from fourways.experiments.choosing.model import Cost, crossings


def figure(costs: Mapping[str, Cost], kernel: float, most: int = 10**7) -> Any:
    """Draw the seconds of a program against its launches, from 1 to `most`, on two logarithmic axes.

    `kernel` is the GPU's seconds for a launch. Bands reach from the 10th to the 90th percentile of the start and of a
    launch; where bands overlap, no way is faster. A ring on the line of a way marks where its band leaves another's, so
    that it is faster from there on.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    drawn, ax = figures.new((4.8, 3.9))  # readable on a phone, too
    drawn.suptitle(f"A kernel of {tables.seconds(kernel)}, launched again and again")
    launches = np.geomspace(1, most, 200)
    others = iter(figures.STAGE_COLOURS[1:])
    for number, (name, cost) in enumerate(costs.items()):
        colour = figures.COLOURS.get(name) or next(others)
        look: dict[str, Any] = {"color": colour, "linestyle": ("-", "--", "-.", ":")[number % 4], "linewidth": 1.5}
        ax.plot(launches, [cost.total(each, kernel) for each in launches], label=name, **look)
        low, high = zip(*(cost.spread(each, kernel) for each in launches), strict=True)
        ax.fill_between(launches, low, high, color=colour, alpha=0.2, linewidth=0)
    for where, _, then in crossings(costs.values(), kernel):
        if where <= most:
            ax.plot(where, then.total(where, kernel), "o", color="#000000", fillstyle="none", markersize=9)
    ax.set(xscale="log", yscale="log", xlabel="launches after the first", ylabel="total (host clock)")
    ax.yaxis.set_major_locator(LogLocator(10, (1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: tables.seconds(value))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.grid(True, axis="y")
    drawn.legend(ncols=4, loc="outside lower center")
    return drawn
