"""What the Makefile tells the programs that it runs: whose certificates to trust, and where to keep caches."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHOW = "show:\n\t@echo $$UV_SYSTEM_CERTS,$$PIP_CERT,$$HOME\nactive:\n\t@echo $$VIRTUAL_ENV\n"


def shown(root: Path, target: str = "show", **variables: str) -> list[str]:
    """The lines that a recipe prints which shows its variables, where the environment has these and no others."""
    if shutil.which("make") is None:
        pytest.skip("no make here")
    make = ["make", "--silent", "--file", "Makefile", "--file", "-", target]
    variables |= {"PATH": os.environ["PATH"]}
    done = subprocess.run(make, cwd=root, input=SHOW, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_systems_certificates_are_trusted_unless_others_are_named(root: Path, tmp_path: Path) -> None:
    bundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
    system = next(filter(os.path.exists, bundles), "")
    assert shown(root, HOME=str(tmp_path)) == [f"1,{system},{tmp_path}"]
    assert shown(root, HOME=str(tmp_path), SSL_CERT_FILE="/a.pem") == [f"1,/a.pem,{tmp_path}"]
    mine = {"SSL_CERT_FILE": "/a.pem", "PIP_CERT": "/b.pem", "UV_SYSTEM_CERTS": "0"}
    assert shown(root, HOME=str(tmp_path), **mine) == [f"0,/b.pem,{tmp_path}"]


@pytest.mark.parametrize("home", [{}, {"HOME": "/nonexistent"}])
def test_a_home_that_cannot_be_written_is_replaced(root: Path, home: dict[str, str]) -> None:
    [said, line] = shown(root, **home)
    assert said.endswith("caches go to build/home") and line.endswith(f",{root}/build/home")


def test_make_test_runs_no_lesson_whole_on_a_gpu_and_make_gpu_runs_all(root: Path) -> None:
    dry = ["make", "--dry-run", "--always-make", "test", "gpu"]
    done = subprocess.run(dry, cwd=root, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True)
    quick, *whole = re.findall(r"-m pytest .*-m (?:\"(.*?)\"|(\w+))( tests/gpu)?$", done.stdout, re.MULTILINE)
    assert whole == [("", "quiet", " tests/gpu"), ("not quiet", "", " tests/gpu")]
    collect = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", quick[0], "tests/gpu"]
    collected = subprocess.run(collect, cwd=root, capture_output=True, text=True).stdout
    assert "test_way[01_doublify-nvrtc]" in collected and "test_a_call_that_waits" in collected
    assert "test_lesson_runs_whole" not in collected and "test_every_clock_alone" not in collected
