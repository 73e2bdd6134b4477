"""The whole diagnosis: of this machine, of one without a clone, as JSON and on the screen."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from fourways import doctor, toolchain
from fourways.doctor.checks import Finding
from fourways.doctor.diagnosis import Diagnosis
from fourways.doctor.inventory import Tool
from fourways.toolchain import Driver, Gpu


def test_diagnosis_of_this_machine() -> None:
    diagnosis = doctor.diagnose()
    assert diagnosis.lessons_can_run, [finding for finding in diagnosis.findings if finding.level == "error"]
    assert diagnosis.tools["nvcc"].version and diagnosis.tools["nvcc"].version.startswith("13.")
    plain = json.loads(diagnosis.to_json())
    assert plain["lessons_can_run"] is True
    assert plain["tools"]["nvcc"]["path"] == str(toolchain.nvcc())
    assert bool(plain["tools"]["driver"]["version"]) == bool(diagnosis.driver and diagnosis.driver.version)
    assert {finding["level"] for finding in plain["findings"]} <= {"ok", "note", "warning", "error"}
    assert all(found.remedy for found in diagnosis.findings if found.level in ("warning", "error"))


def test_without_a_clone_no_lesson_can_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURWAYS_ROOT", str(tmp_path))
    diagnosis = doctor.diagnose()
    assert not diagnosis.lessons_can_run
    assert "no clone of Four Ways found" in [finding.what for finding in diagnosis.findings]


def test_one_error_keeps_lessons_from_running() -> None:
    findings = [Finding("warning", "w", "r"), Finding("error", "e", "r")]
    assert not Diagnosis({}, None, [], findings).lessons_can_run
    assert Diagnosis({}, None, [], findings[:1]).lessons_can_run


def test_render_shows_tools_gpus_and_findings() -> None:
    nvcc = Tool("nvcc", Path("/opt/[cuda]/nvcc"), "13.0.88", "from PATH", (Path("/usr/bin/nvcc"),))
    driver = Tool("driver", Path("/usr/lib/libcuda.so.1"), "580.159.04", "CUDA 13.0")
    diagnosis = Diagnosis(
        {"nvcc": nvcc, "driver": driver, "ninja": Tool("ninja")},
        Driver("580.159.04", "13.0"),
        [Gpu("NVIDIA H200", "9.0", "sm_90", 139 << 30)],
        [Finding("warning", "an old [thing]", "mend it")],
    )
    console = Console(file=io.StringIO(), width=120)
    console.print(doctor.render(diagnosis))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    words = ("/opt/[cuda]/nvcc", "13.0.88", "from PATH", "passed over: /usr/bin/nvcc", "580.159.04", "CUDA 13.0")
    for word in (*words, "/usr/lib/libcuda.so.1", "H200", "139 GiB", "not found", "warning", "[thing]", "mend it"):
        assert word in text
