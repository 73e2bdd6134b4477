"""A script of the package in a folder of its own, as somebody uses it who has copied it."""

import shutil
import subprocess
import sys
from pathlib import Path

from fourways import kernels


def run(script: str, program: str, folder: Path, *arguments: str) -> str:
    """Copy a script and tables.py to `folder`, run a program there that cannot import fourways; return its output."""
    for name in (script, "tables"):
        shutil.copy(kernels.root() / "scripts" / "fourways" / f"{name}.py", folder)
    (folder / "program.py").write_text(f"import sys\nsys.modules['fourways'] = None\n{program}", encoding="utf-8")
    words = [sys.executable, "program.py", *arguments]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
