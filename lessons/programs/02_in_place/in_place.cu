// y[i] = x[i] * y[i] in place, for complex numbers. VECTOR: the elements that a thread takes at once
typedef float2 Element; // CHANGE: a complex64 (.x real, .y imaginary); CUDA knows float2 without an include
struct alignas(sizeof(Element) * VECTOR) Pack {
    Element element[VECTOR];
};

__device__ Element result(Element p, Element q) // CHANGE: the types; add a parameter for each number
{
    return {p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x}; // CHANGE: float2 has no operator *
}

extern "C" __global__ void in_place(const Element *x, Element *y, long long n) // CHANGE: arrays and numbers
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / VECTOR) {
        Pack p = ((const Pack *)x)[i], q = ((const Pack *)y)[i]; // CHANGE: a pack for each array; Pack q; if y is only written
        for (int k = 0; k < VECTOR; ++k)
            q.element[k] = result(p.element[k], q.element[k]); // CHANGE: as above
        ((Pack *)y)[i] = q;
    }
    if (i < n % VECTOR)
        y[n - 1 - i] = result(x[n - 1 - i], y[n - 1 - i]); // CHANGE: the same; these lie behind the last pack
}
