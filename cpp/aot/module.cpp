// The extension module fourways_aot: the kernels of cpp/kernels, compiled ahead of time.
//
// A kernel is three files, and nothing else of the build names it:
//
//     kernels/NAME.cuh   the kernel
//     aot/NAME.cu        launch_NAME queues it on a stream, for any size (0 too), and returns CUDA's verdict on that
//     aot/NAME.cpp       bind_NAME gives Python the function NAME: its arguments checked, then launch_NAME called
//
// NAME.cpp declares launch_NAME itself. If the two differ, importing the module says "undefined symbol".

// CMake's list of what goes in here: X(doublify) X(saxpy) …
#ifndef FOURWAYS_BINDINGS
#error "CMake says what goes in here. Build with: cd cpp && cmake --preset release && cmake --build --preset release"
#endif

#include <cuda_runtime_api.h>
#include <pybind11/pybind11.h>
#include <string>

namespace py = pybind11;

namespace fourways {

#define X(name) void bind_##name(py::module_ &m);
FOURWAYS_BINDINGS
#undef X

static constexpr const char *module_doc = R"(The Four Ways kernels, compiled ahead of time by nvcc and bound with pybind11.

built_for     the code inside: "sm_90" is machine code of one architecture, "compute_75" PTX for that and newer ones
cuda_version  the CUDA release that compiled it, as "13.0"
)";

PYBIND11_MODULE(fourways_aot, m, py::mod_gil_not_used())
{
    m.doc() = module_doc;
    m.attr("__version__") = FOURWAYS_VERSION;
    m.attr("built_for") = py::tuple(py::str(FOURWAYS_BUILT_FOR).attr("split")());
    m.attr("cuda_version") = std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
#define X(name) bind_##name(m);
    FOURWAYS_BINDINGS
#undef X
}

} // namespace fourways
