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

NAME = "mix"  # CHANGE: of the function, NAME.cu, nb_NAME.cpp and the module nb_NAME
DTYPE, INPUTS, SCALARS = np.float32, 2, (-0.5, 0.5)  # CHANGE

here, folder = Path(__file__).parent, tempfile.mkdtemp()  # or a folder of your own
nb, headers = Path(nanobind.include_dir()).parent, sysconfig.get_paths()["include"]
flag, ending = "", sysconfig.get_config_var("EXT_SUFFIX")  # for this Python alone
if sys.version_info >= (3, 12):  # one file for Python 3.12 and later
    flag, ending = "-DPy_LIMITED_API=0x030C0000", ".abi3.so"
BUILD = f"""nvcc -c -arch=native -Xcompiler=-fPIC {here}/{NAME}.cu -o {folder}/kernel.o
nvcc -shared -O2 -std=c++17 -DNDEBUG {flag} \
-Xcompiler=-fPIC,-fvisibility=hidden,-fno-strict-aliasing \
-I{nb}/include -I{nb}/ext/robin_map/include -I{headers} \
{nb}/src/nb_combined.cpp {here}/nb_{NAME}.cpp {folder}/kernel.o -o {folder}/nb_{NAME}{ending}"""
for command in BUILD.splitlines():
    subprocess.run(command, shell=True, check=True)
sys.path.insert(0, folder)
call = getattr(importlib.import_module(f"nb_{NAME}"), NAME)
stream = cp.cuda.get_current_stream().ptr

for size in (0, 1, 255, 256, 257, 1_000_003):
    values = np.random.default_rng(size).standard_normal((INPUTS, size)).astype(DTYPE)  # CHANGE
    out = cp.full(size, -99, DTYPE)  # CHANGE: what no result is
    call(*map(cp.asarray, values), out, *SCALARS, stream)
    right = np.clip(values[0] + values[1], *SCALARS)  # CHANGE: the same in NumPy
    assert np.allclose(out.get(), right, rtol=0, atol=0), size  # CHANGE: 0, 0 is ==

good = [cp.ones(16, DTYPE) for _ in range(INPUTS + 1)]  # the inputs and the output
wrong = {"dtype": good[0].astype("f2"), "gaps": cp.ones(32, DTYPE)[::2], "CPU": good[0].get()}
wrong["size"] = cp.ones(8, DTYPE)
for place in range(INPUTS + 1):
    for name, array in wrong.items():
        try:
            call(*good[:place], array, *good[place + 1 :], *SCALARS, stream)
            raise AssertionError(f"array {place}: wrong {name} was accepted")
        except (TypeError, ValueError) as error:
            print(f"array {place}, {name:5} {type(error).__name__}")
calls = {"binding": lambda: call(*good, *SCALARS, stream), "nothing": lambda: None}
taken = {name: [] for name in calls}
for _ in range(30):
    for name in random.sample(list(calls), len(calls)):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        [calls[name]() for _ in range(200)]
        taken[name].append((time.perf_counter() - start) / 200)
print({name: f"{np.median(each) * 1e6:.2f} µs a call" for name, each in taken.items()})
