"""The recorded costs of the ways as a script, for the explorable on lesson 14's page."""

import json

from fourways import choosing
from fourways.ways import WAYS


def script() -> str:
    """Return JavaScript that defines `programCosts`: the `costs` of each way, their `origin`, and `small`.

    The numbers are the book's recorded ones; without any, `costs` is empty. `small` is `choosing.SMALL_SECONDS`.
    Raises ValueError for a bad file of results.
    """
    try:
        files = choosing.recorded()
    except ValueError:  # nothing is recorded
        files = []
    costs = choosing.costs(*files) if files else {}
    content = {
        "costs": [coefficients(cost) for cost in costs.values()],
        "origin": next((cost.origin for cost in costs.values()), ""),
        "small": choosing.SMALL_SECONDS,
    }
    return f"const programCosts = {json.dumps(content, indent=1, ensure_ascii=False)};\n"


def coefficients(cost: choosing.Cost) -> dict[str, str | float]:
    """Return what `program_time.js` needs of a way's cost: `way`, its short name, and seconds by the cost's names."""
    launch_low, launch_high = cost.between_launches(kernel=0)
    return {
        "way": WAYS[cost.name].short,
        **{name: getattr(cost, name) for name in ("start", "low", "high", "launch", "cold", "edit")},
        "launch_low": launch_low,
        "launch_high": launch_high,
    }
