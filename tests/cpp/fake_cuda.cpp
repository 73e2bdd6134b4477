// A CUDA runtime of host memory, to test the binding's road from argument to launch without a GPU.
// Every pointer counts as memory of GPU 0, but for one that the test names. fake_log() tells what was called.

#include <cuda_runtime_api.h>
#include <string>
#include <type_traits>

namespace {
std::string text_log;
const void *host = nullptr;
int current = 0;

template <class... Parts> cudaError_t log(Parts... parts)
{
    const auto word = [](auto part) {
        if constexpr (std::is_arithmetic_v<decltype(part)>)
            return std::to_string(part);
        else
            return std::string(part);
    };
    ((text_log += word(parts) + ' '), ...);
    text_log += '\n';
    return cudaSuccess;
}
size_t number(const void *pointer) { return reinterpret_cast<size_t>(pointer); }
} // namespace

#define FOR_THE_TEST extern "C" __attribute__((visibility("default")))

FOR_THE_TEST const char *fake_log() { return text_log.c_str(); }
FOR_THE_TEST void fake_reset(int device, const void *host_pointer)
{
    text_log.clear();
    current = device;
    host = host_pointer;
}

extern "C" {
cudaError_t cudaGetDevice(int *device) { return *device = current, cudaSuccess; }
cudaError_t cudaGetLastError() { return log("cleared"), cudaSuccess; }
const char *cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }
const char *cudaGetErrorString(cudaError_t) { return "a fake error"; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    attributes->type = pointer == host ? cudaMemoryTypeUnregistered : cudaMemoryTypeDevice;
    attributes->device = 0;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return *event = nullptr, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t stream) { return log("record", number(stream)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned) { return log("wait", number(stream)); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
}

namespace fourways {

cudaError_t launch_doublify(const float *x, float *y, long long n, cudaStream_t stream)
{
    log("launch", n, number(stream));
    for (long long i = 0; i < n; ++i)
        y[i] = 2 * x[i];
    return cudaSuccess;
}

} // namespace fourways
