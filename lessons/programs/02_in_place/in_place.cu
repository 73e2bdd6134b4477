// y[i] = x[i] * y[i] in place, for complex numbers. VECTOR: the elements of a thread
// CHANGE: a complex64 (.x real, .y imaginary); CUDA knows float2 without an include
typedef float2 Element;
struct alignas(sizeof(Element) * VECTOR) Pack {
    Element element[VECTOR];
};

// CHANGE: the types; add a parameter for each number
__device__ Element result(Element p, Element q)
{
    return {p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x}; // CHANGE: float2 has no operator *
}

// CHANGE: arrays and numbers
extern "C" __global__ void in_place(const Element *x, Element *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / VECTOR) {
        // CHANGE: a pack for each array; Pack q; if y is only written
        Pack p = ((const Pack *)x)[i], q = ((const Pack *)y)[i];
        for (int k = 0; k < VECTOR; ++k)
            q.element[k] = result(p.element[k], q.element[k]); // CHANGE: as above
        ((Pack *)y)[i] = q;
    }
    if (i < n % VECTOR)
        // CHANGE: the same; these lie behind the last pack
        y[n - 1 - i] = result(x[n - 1 - i], y[n - 1 - i]);
}
