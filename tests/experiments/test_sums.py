"""The judges of lesson 03's exercises, and what compilers say, as far as it needs no GPU."""

from typing import Any

import pytest

from fourways import process
from fourways.experiments import sums
from fourways.experiments.sums import exercises

WARP_SCAN = """
__device__ float warp_scan(float value)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        const float below = __shfl_up_sync(0xffffffff, value, distance);
        if (threadIdx.x % 32 >= distance) value += below;
    }
    return value;
}
"""
BY_MEMORY = """
__device__ float warp_scan(float value)  // without __shfl_up_sync
{
    __shared__ float values[160];
    values[threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (int lane = threadIdx.x / 32 * 32; lane <= threadIdx.x; ++lane) sum += values[lane];
    return sum;
}
"""
BLOCK_SUM = """
extern "C" __global__ void reduce(const float *x, float *total, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float numbers[1024];
    numbers[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < blockDim.x; ++k)
            sum += numbers[k];
        KEEP;
    }
}
"""


def constant(number: str) -> str:
    return f"__device__ float warp_scan(float value) {{ return {number}; }}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no function `warp_scan`"),
        (constant("value"), "lane 1 of warp 0 has"),
        (constant("0"), "lane 0 of warp 0 has 0"),
        (WARP_SCAN.replace("if (threadIdx.x % 32 >= distance) ", ""), "lane 0 of warp 0 has"),
        (WARP_SCAN.replace("threadIdx.x % 32", "threadIdx.x"), "of warp 1 has"),
        (WARP_SCAN.replace("distance < 32", "distance < 16"), "lane 16 of warp 0 has"),
        (WARP_SCAN.replace("up_sync", "down_sync"), "lane 1 of warp 0 has"),
        (WARP_SCAN.replace("float value)", "const float &value)").replace("value += below", "return 1"), "Not yet"),
        ("#define warp_scan(value) sum_of(x, threadIdx.x)", "‘warp_scan’ was not declared"),
        (constant("values"), "values"),
        (WARP_SCAN.replace("distance = 1", "distance = 0"), "Not yet"),
        (BY_MEMORY, "no lane got a value by `__shfl_up_sync`"),
        ("#define unused __shfl_up_sync\n" + BY_MEMORY, "no lane got a value by `__shfl_up_sync`"),
        (BY_MEMORY.replace("float sum = 0", "float sum = 0 * __shfl_up_sync(~0u, value, 1)"), "met in shared memory"),
        (constant("value").replace("warp_scan", "warp_scans"), "Not yet"),
    ],
)
def test_wrong_scans_are_told_which_lane(text: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "_TIMEOUT", 1)
    said = sums.check_warp_scan(text)
    assert said.startswith("Not yet: ") and told in said, said


def test_a_scan_by_shuffles_is_right() -> None:
    assert sums.check_warp_scan(WARP_SCAN).startswith("Right")
    assert sums.check_warp_scan(WARP_SCAN.replace("__device__", "static __device__")).startswith("Right")


def test_one_block_that_does_all_and_a_forgotten_barrier_are_told() -> None:
    head = 'extern "C" __global__ void reduce(const float *x, float *total, long long n)\n{\n'
    alone = (
        "if (blockIdx.x == 0 && threadIdx.x == 0) for (int b = 0; b < gridDim.x; ++b) { float sum = 0; for (int k = 0; "
    )
    alone += "k < blockDim.x && b * (long long)blockDim.x + k < n; ++k) sum += x[b * (long long)blockDim.x + k];"
    alone += "total[b] = sum; }"
    assert "block 1 does nothing" in sums.check_partial_sums(head + alone + "}\n")
    racing = "__shared__ float s[256]; const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    racing += "s[threadIdx.x] = i < n ? x[i] : 0;\nif (threadIdx.x == 0) { float sum = 0;"
    racing += "for (int k = 0; k < blockDim.x; ++k) sum += s[k]; total[blockIdx.x] = sum; }"
    assert "threads race" in sums.check_partial_sums(head + racing + "}\n")


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        ("atomicAdd(total, sum)", "nobody wrote total[1]"),
        ("atomicAdd(total + blockIdx.x, sum)", "added, not written"),
        ("total[blockIdx.x] = 64", "the elements of block 0 add up to"),
        ("total[gridDim.x - 1 - blockIdx.x] = sum", "the elements of block 0 add up to"),
        ("total[0] = sum", "nobody wrote total[1]"),
        ("total[i] = sum", "Not yet: "),
        ("total[blockIdx.x] = 0; atomicAdd(total + blockIdx.x, sum)", "by an atomic function"),
        ("total[blockIdx.x] = sums", "was not declared"),
        ("total[blockIdx.x] += sum - 4096", "the elements of block 0 add up to"),
        ("sum = 0; for (int k = 0; k < 64; ++k) sum += numbers[k]; total[blockIdx.x] = sum", "blocks of 128 threads"),
        ("total[gridDim.x - 1] = 0, total[blockIdx.x] = sum", "block"),
    ],
)
def test_sums_that_are_not_each_block_s_own_are_told(keep: str, told: str) -> None:
    said = sums.check_partial_sums(BLOCK_SUM.replace("KEEP", keep))
    assert said.startswith("Not yet: ") and told in said, said


def test_each_block_s_own_sum_is_right() -> None:
    keep = "total[blockIdx.x] = sum; // was: atomicAdd(total, sum)\n"
    assert sums.check_partial_sums(BLOCK_SUM.replace("KEEP", keep)).startswith("Right")


def test_refusals_name_the_first_error_of_each_compiler() -> None:
    kernel = 'extern "C" __global__ void mine(int *y) { *y = 1; }'
    fine, header = sums.refusals({"fine": kernel, "a header": "#include <vector>\n" + kernel}).rows
    assert (fine["nvrtc"], fine["nvcc"]) == ("compiles", "compiles")
    assert header["nvcc"] == "compiles" and "vector" in header["nvrtc"]


def test_builds_have_a_row_for_each_compiler() -> None:
    rows = sums.builds({"mine": 'extern "C" __global__ void mine(int *y) { *y = 1; }'}).rows
    assert [(row["kernel"], row["compiler"]) for row in rows] == [("mine", "nvrtc"), ("mine", "nvcc")]
    assert all(row["seconds"]["samples"] == 3 and row["registers"] > 0 for row in rows)


@pytest.mark.parametrize("text", [None, "", "reduce", 'extern "C" __global__ void other(float *y) {}'])
def test_partial_sums_without_a_kernel(text: Any) -> None:
    assert sums.check_partial_sums(text) == "Not yet: the text has no kernel `reduce`."


def test_the_users_accelerators_do_not_reach_the_row_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUPY_ACCELERATORS", "cutensor")
    settings = []

    def answer(program: str, task: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
        settings.append(environment.get("CUPY_ACCELERATORS"))
        return {"one_sum_seconds": 1e-3}

    monkeypatch.setattr(process, "answer", answer)
    table = sums.accelerators()
    assert settings == [None, ""]
    assert table.cells() == [["not set", "device", "1.00 ms"], ['""', "device", "1.00 ms"]]
