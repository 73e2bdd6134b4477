"""Build a nanobind module by two commands, check it, try wrong arrays, and time a call."""

import importlib
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import cupy as cp
import nanobind
import numpy as np

KERNEL, MODULE, BINDING = "clip.cu", "nb_clip", "nb_clip.cpp"  # CHANGE
DTYPE, SCALARS, RTOL = np.float32, (-0.5, 0.5), 0  # CHANGE: RTOL 0 asks for equal results
reference = np.clip  # CHANGE: a function of x and the scalars

here, folder = Path(__file__).parent, tempfile.mkdtemp()  # or a folder of your own
nb, headers = Path(nanobind.include_dir()).parent, sysconfig.get_paths()["include"]
limited, ending = "", sysconfig.get_config_var("EXT_SUFFIX")
if sys.version_info >= (3, 12):  # one file for Python 3.12 and later
    limited, ending = "-DPy_LIMITED_API=0x030C0000", ".abi3.so"
BUILD = f"""nvcc -c -arch=native -Xcompiler=-fPIC {here}/{KERNEL} -o {folder}/kernel.o
nvcc -shared -O2 -std=c++17 -DNDEBUG {limited} \
-Xcompiler=-fPIC,-fvisibility=hidden,-fno-strict-aliasing \
-I{nb}/include -I{nb}/ext/robin_map/include -I{headers} \
{nb}/src/nb_combined.cpp {here}/{BINDING} {folder}/kernel.o -o {folder}/{MODULE}{ending}"""
for command in BUILD.splitlines():
    subprocess.run(command, shell=True, check=True)
sys.path.insert(0, folder)
call = importlib.import_module(MODULE).clip  # CHANGE
stream = cp.cuda.get_current_stream().ptr

for size in (0, 1, 255, 256, 257, 1_000_003):
    x = np.random.default_rng(size).standard_normal(size).astype(DTYPE)
    y = cp.full(size, -99, DTYPE)  # so that an old answer is no answer
    call(cp.asarray(x), y, *SCALARS, stream)  # CHANGE, where there are more inputs
    assert np.allclose(y.get(), reference(x, *SCALARS), RTOL, 0), size

x, y = cp.ones(16, DTYPE), cp.empty(16, DTYPE)
wrong = {"float16": x.astype("f2"), "gaps": cp.ones(32, DTYPE)[::2], "size": x[:8]}
wrong["CPU"] = x.get()
for name, array in wrong.items():
    try:
        call(array, y, *SCALARS, stream)
    except (TypeError, ValueError) as error:
        print(f"{name:8} {type(error).__name__}")
    else:
        raise AssertionError(f"{name} was accepted")
calls = {"binding": lambda: call(x, y, *SCALARS, stream), "nothing": lambda: None}
taken = {name: [] for name in calls}
for _ in range(30):
    for name in random.sample(list(calls), len(calls)):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        [calls[name]() for _ in range(200)]
        taken[name].append((time.perf_counter() - start) / 200)
print({name: f"{np.median(each) * 1e6:.2f} µs a call" for name, each in taken.items()})
