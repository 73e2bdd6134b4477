// The extension module fourways_aot: the kernels of cpp/kernels, compiled ahead of time.

#ifndef FOURWAYS_BINDINGS
#error "CMake says what goes in here. Build with: cd cpp && cmake --preset release && cmake --build --preset release"
#endif

// One binding per kernel, called bind_<kernel>. Inline: of a kernel left out of FOURWAYS_KERNELS nothing stays behind.
#include "apply_transform.hpp"
#include "colmeans.hpp"
#include "doublify.hpp"
#include "long_scan.hpp"
#include "reduce.hpp"
#include "saxpy.hpp"
#include "scan.hpp"
#include "stencil.hpp"
#include "transpose.hpp"

namespace fourways {

static constexpr const char *module_doc = R"(The Four Ways kernels, compiled ahead of time by nvcc and bound with pybind11.

built_for     the code inside: "sm_90" is machine code of one architecture, "compute_75" PTX for that and newer ones
cuda_version  the CUDA release that compiled it, as "13.0"
)";

PYBIND11_MODULE(fourways_aot, m)
{
    py::options options;
    options.disable_function_signatures(); // the docstrings start with their own
    m.doc() = module_doc;
    m.attr("__version__") = FOURWAYS_VERSION;
    m.attr("built_for") = py::tuple(py::str(FOURWAYS_BUILT_FOR).attr("split")());
    m.attr("cuda_version") = std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
    FOURWAYS_BINDINGS; // bind_doublify(m), bind_…
}

} // namespace fourways
