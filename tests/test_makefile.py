"""What the Makefile tells the programs that it runs: whose certificates to trust, and where to keep caches."""

import os
import shutil
import subprocess
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
