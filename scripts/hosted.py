"""Set up Four Ways for the notebook that runs this, on a server such as Colab: `%run four-ways/scripts/hosted.py`.

The server's own packages stay as they are: those of requirements.lock go to `build/site` in the clone, and this
notebook finds them there first. The last line printed says whether cells that need a GPU will run.
"""

import os
import subprocess
import sys
from pathlib import Path

CLONE = Path(__file__).resolve().parents[1]
FOLDERS = [str(CLONE / name) for name in ("scripts", "build/release", "build/site")]
PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
COMMANDS = (
    [sys.executable, *PIP, "--target", FOLDERS[-1], "-r", str(CLONE / "requirements.lock")],
    ["make", "--silent", "-C", str(CLONE), "setup", f"PYTHON={sys.executable}"],
    [sys.executable, "-m", "fourways", "install-pycuda", "--if-driver"],
)

os.environ["PYTHONPATH"] = os.pathsep.join([*FOLDERS, *filter(None, [os.environ.get("PYTHONPATH")])])
for command in COMMANDS:
    print("$", *command, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout[-2000:]}\nSet-up failed in the command above. Run this cell again, or work in a clone.")
sys.path[:0] = FOLDERS

from fourways import toolchain  # noqa: E402 (what the commands have installed)

reason = toolchain.missing("gpu")
print(f"Cells that need a GPU are skipped, and show recorded outputs: {reason}" if reason else toolchain.gpus()[0].name)
