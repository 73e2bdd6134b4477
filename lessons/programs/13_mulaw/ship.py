"""Pack a kernel for many GPUs into a wheel; then use it in fresh processes."""

import shutil
import subprocess
import tempfile
from pathlib import Path

# CHANGE: of the package, its folder, NAME.cu and the kernel; pyproject.toml has it, too
NAME = "mulaw"
# CHANGE: PTX of the oldest
CODES = ["sm_80", "sm_90", "sm_100", "sm_120", "sm_75", "compute_75"]


def run(command):
    print("$", command, flush=True)
    subprocess.run(command, shell=True, check=True, cwd=folder)


folder = shutil.copytree(Path(__file__).parent, Path(tempfile.mkdtemp(), NAME))
words = [f"-gencode=arch=compute_{code.split('_')[1]},code={code}" for code in CODES]
run(f"nvcc -fatbin {' '.join(words)} -o {NAME}/{NAME}.fatbin {NAME}.cu")
run(f"cuobjdump --list-elf --list-ptx {NAME}/{NAME}.fatbin")
run("python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .")
run(f"python -m zipfile --list dist/*.whl | grep {NAME}.fatbin")  # stops if the wheel has none
run("python -m pip install --quiet --no-deps --target site dist/*.whl")
shutil.copy(folder / "user.py", folder / "site")  # so it imports what pip has installed
for jit in ("", "CUDA_FORCE_PTX_JIT=1 "):  # 1: the driver ignores machine code
    # no nvcc, no g++
    run(f"{jit}CUDA_CACHE_DISABLE=1 PATH=/nowhere $(command -v python) site/user.py")
print("The wheel to give away:", *folder.glob("dist/*.whl"))
