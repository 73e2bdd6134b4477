"""A wheel built from the clone installs into an empty environment, and both packages import there."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


def run(*command: str, **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_wheel_installs_into_an_empty_environment_and_imports(tmp_path: Path, root: Path) -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.skip("uv is not here (`make setup` brings it)")
    # Only what git would hand a newcomer, and no CUDA on PATH: the compiler is the wheels' own.
    source = tmp_path / "source"
    files = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=root).split("\0")
    for name in filter(None, files):
        if (root / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, source / name)
    bare = {key: value for key, value in os.environ.items() if "CUDA" not in key and key not in ("NVCC", "PYTHONPATH")}
    bare["PATH"] = "/usr/bin:/bin"
    build = [uv, "build", "--wheel", "--python", sys.executable, "--out-dir", str(tmp_path), str(source)]
    try:
        run(*build, env=bare)
    except AssertionError as error:
        if "dns error" in str(error) or "error sending request" in str(error):
            pytest.skip("no package index can be reached, and pip's isolated build asks one for the compiler")
        raise
    (wheel,) = tmp_path.glob("fourways-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "fourways/cli/app.py" in names and any(name.startswith("fourways_aot.") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    empty = tmp_path / "empty"
    run(uv, "venv", "--quiet", "--python", sys.executable, str(empty))
    python = str(empty / "bin" / "python")
    locked = ["--constraint", str(root / "requirements.lock")]  # a new release of anybody's must not break this
    run(uv, "pip", "install", "--quiet", "--python", python, *locked, str(wheel), env=bare)
    code = "import fourways.cli, fourways_aot; print(fourways_aot.__file__)"
    place = run(python, "-c", code, env=bare, cwd=tmp_path)
    assert place.startswith(str(empty))
    outside = subprocess.run([python, "-m", "fourways", "list"], env=bare, cwd=tmp_path, capture_output=True, text=True)
    assert outside.returncode == 1 and "no clone of Four Ways found" in outside.stderr
