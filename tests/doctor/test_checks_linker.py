"""What the doctor finds of nvJitLink beside the compilers and the driver."""

from dataclasses import replace

import pytest

from fourways.doctor.checks import Finding, judge
from fourways.doctor.inventory import Tool
from fourways.toolchain import Driver


def findings(tools: dict[str, Tool], driver: str | None = None, **versions: str | None) -> list[Finding]:
    """What is wrong with nvJitLink where these tools have other versions, and the driver this CUDA version."""
    changed = {name: replace(tools[name], version=version) for name, version in versions.items()}
    of_cuda = Driver("580.159.04", driver) if driver else None
    return [found for found in judge(tools | changed, of_cuda, []) if found.level != "ok" and "nvJitLink" in found.what]


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        ({"NVRTC": "13.6"}, "NVRTC 13.6 and nvJitLink 13.0: a linker takes LTO-IR of its own version or older"),
        ({"nvcc": "13.6.1"}, "nvcc 13.6.1 and nvJitLink 13.0: a linker takes LTO-IR of its own version or older"),
        ({"nvcc": "12.9.1"}, "nvcc 12.9.1 and nvJitLink 13.0: a linker takes LTO-IR of its own major version alone"),
    ],
)
def test_lto_needs_a_linker_no_older_of_the_same_major(
    tools: dict[str, Tool], versions: dict[str, str], words: str
) -> None:
    (found,) = findings(tools, **versions)
    assert (found.level, bool(found.remedy)) == ("warning", True)
    assert found.what.startswith(words)


def test_missing_or_mute(tools: dict[str, Tool]) -> None:
    missing = tools | {"nvJitLink": Tool("nvJitLink")}
    assert [found.what for found in findings(missing)] == ["no nvJitLink found: nothing can be linked at run time"]
    mute = findings(tools, nvJitLink=None)
    assert ["and nvJitLink None: a linker takes" in found.what for found in mute] == [True, True]
    assert findings(tools, NVRTC=None) == []


@pytest.mark.parametrize(
    ("linker", "driver", "level", "words"),
    [
        ("13.5", "13.0", "note", "machine code that it links runs, but PTX that it writes is too new for this driver"),
        ("13.5", "12.9", "warning", "the driver is too old to run what it links"),
    ],
)
def test_the_driver_is_older(tools: dict[str, Tool], linker: str, driver: str, level: str, words: str) -> None:
    (found,) = findings(tools, driver, nvJitLink=linker)
    assert (found.level, bool(found.remedy)) == (level, True)
    assert found.what == f"nvJitLink {linker} and the driver (CUDA {driver}): {words}"


def test_a_newer_linker_and_driver_fit(tools: dict[str, Tool]) -> None:
    assert findings(tools, "13.5", nvJitLink="13.5") == []
