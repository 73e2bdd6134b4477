"""What compilers say of a text."""

from fourways.experiments import sums


def test_refusals_name_the_first_error_of_each_compiler() -> None:
    kernel = 'extern "C" __global__ void mine(int *y) { *y = 1; }'
    fine, header = sums.refusals({"fine": kernel, "a header": "#include <vector>\n" + kernel}).rows
    assert (fine["nvrtc"], fine["nvcc"]) == ("compiles", "compiles")
    assert header["nvcc"] == "compiles" and "vector" in header["nvrtc"]
