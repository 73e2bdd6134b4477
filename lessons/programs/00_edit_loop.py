"""From an edit of a kernel to its result, with CuPy, or with pybind11, CMake and nvcc on PATH."""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cupy as cp
import numpy as np
import pybind11

KERNEL = """extern "C" __global__ void shift(float *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += OFFSET;
}"""
LAUNCH = """#include "kernel.cuh"
void launch(float *x, int n) { shift<<<(n + 255) / 256, 256>>>(x, n); }"""
BINDING = """#include <pybind11/pybind11.h>
void launch(float *x, int n);
PYBIND11_MODULE(shifting, m)
{
    m.def("shift", [](std::size_t x, int n) { launch((float *)x, n); }); // checks nothing
}"""
CMAKE = f"""cmake_minimum_required(VERSION 3.25)
set(CMAKE_CUDA_ARCHITECTURES {cp.cuda.Device().compute_capability})
project(shifting LANGUAGES CXX CUDA)
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 CONFIG REQUIRED PATHS {pybind11.get_cmake_dir()})
pybind11_add_module(shifting NO_EXTRAS binding.cpp launch.cu)"""
PROGRAM = "import cupy, shifting; x = cupy.zeros(9, 'f4'); shifting.shift(x.data.ptr, 9); print(x[8])"
folder = Path(tempfile.mkdtemp())
for name, text in {"launch.cu": LAUNCH, "binding.cpp": BINDING, "CMakeLists.txt": CMAKE}.items():
    (folder / name).write_text(text)


def just_in_time(text):
    x = cp.zeros(9, "f4")
    cp.RawModule(code=text).get_function("shift")((1,), (256,), (x, np.int32(9)))
    return x.get()[8]  # waits for the kernel


def ahead_of_time(text):
    (folder / "kernel.cuh").write_text(text)
    run = {"cwd": folder, "check": True, "capture_output": True}
    subprocess.run(["cmake", "-B", ".", f"-DPython_EXECUTABLE={sys.executable}"], **run)
    subprocess.run(["cmake", "--build", "."], **run)
    return subprocess.run([sys.executable, "-c", PROGRAM], **run).stdout


for loop in (just_in_time, ahead_of_time):
    for _ in range(3):
        offset = random.randrange(3, 2**24)  # the edit: a text that no cache knows
        start = time.perf_counter()
        assert float(loop(KERNEL.replace("OFFSET", str(offset)))) == offset
        print(f"{loop.__name__}: {time.perf_counter() - start:.2g} s from an edit to its result")
