"""What the scaling of plates says of its numbers, and on machines that cannot; the GPUs' part is in tests/gpu."""

import numpy as np
import pytest

from fourways import toolchain
from fourways.experiments import cluster
from fourways.experiments.cluster import plates


def rows() -> list[dict]:
    seconds = {
        (1, "compute, then exchange"): 1.25,
        (1, "both at once"): 1.0,
        (2, "compute, then exchange"): 0.625,
        (2, "both at once"): 0.5,
    }
    return [
        {"gpus": gpus, "side": side, "how": how, "clock": "host", "seconds": value * side}
        for side in (64, 32)
        for (gpus, how), value in seconds.items()
    ]


def after_steps() -> np.ndarray:
    """The plate of CHECK after its steps."""
    height, width, steps = plates.CHECK
    u = np.random.default_rng(1).random((height, width), np.float32)
    for _ in range(steps):
        u[1:-1, 1:-1] = np.float32(0.25) * ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:]))
    return u


def test_speedup_is_over_one_gpu_on_the_same_plate() -> None:
    table = plates.scaling_table(rows())
    found = [(row["side"], row["gpus"], row["speedup"]) for row in table.rows]
    assert found == [(32, 1, 1.0), (32, 2, 1.6), (32, 2, 2.0), (64, 1, 1.0), (64, 2, 1.6), (64, 2, 2.0)]
    assert "64²    2     both at once            32.0 s  2.00" in str(table)


def test_strips_are_checked_row_by_row() -> None:
    u = after_steps()
    plates.check_strips([u[:40], u[40:]], "right")
    u[40, 5] = 2
    with pytest.raises(ValueError, match="wrong: row 40 of 97 is wrong after 40 steps, 1 rows in all"):
        plates.check_strips([u[:40], u[40:]], "wrong")


def test_without_gpus_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for absent, counts in (("gpu", [1]), ("nccl", [1, 2])):
        missing = {absent: f"no {absent}"}
        monkeypatch.setattr(toolchain, "missing", missing.get)
        with pytest.raises(RuntimeError, match=f"no {absent}"):
            cluster.scale_plates({64: 20}, counts)
    monkeypatch.setattr(toolchain, "missing", {}.get)
    monkeypatch.setattr(toolchain, "gpus", list)
    with pytest.raises(ValueError, match="steps are taken 20 at a time; got 30"):
        cluster.scale_plates({64: 30})
    with pytest.raises(ValueError, match=r"expected numbers of GPUs from 1 to 0, beginning with 1; got \[1, 2\]"):
        cluster.scale_plates({64: 20}, [1, 2])
