"""Which code runs on which GPU, and how a user names architectures."""

import pytest

from fourways import toolchain


def test_names_of_architectures() -> None:
    assert toolchain.architectures(["90", "sm_80", "sm_90"]) == ["sm_90", "sm_80"]
    every = toolchain.architectures(["120", "all"])
    assert every[0] == "sm_120" and sorted(every) == sorted(f"sm_{arch}" for arch in toolchain.ARCHITECTURES)


@pytest.mark.parametrize(
    ("holds", "arch", "runs"),
    [
        ({"sm_90"}, "sm_90", True),
        ({"sm_80"}, "sm_86", True),  # same major version, older minor
        ({"sm_86"}, "sm_80", False),
        ({"sm_80"}, "sm_90", False),
        ({"compute_80"}, "sm_90", True),  # PTX: compiled by the driver
        ({"compute_90"}, "sm_80", False),
        ({"sm_90a"}, "sm_90", True),
        ({"compute_90a"}, "sm_100", False),
        ({"sm_100f"}, "sm_103", True),
        ({"compute_100f"}, "sm_120", False),
        ({"sm_75", "sm_90"}, "sm_90", True),
        (set(), "sm_90", False),
    ],
)
def test_runs_on(holds: set[str], arch: str, runs: bool) -> None:
    assert toolchain.runs_on(holds, arch) is runs
