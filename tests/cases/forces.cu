// The pull on each particle by the others of its cell: a block for each cell, particles sorted by cell.
struct Pull {
    float strength, softening;
};

extern "C" __global__ void forces(const float4 *__restrict__ particles, const int *__restrict__ first,
                                  float4 *__restrict__ force, double2 *__restrict__ felt, Pull pull)
{
    extern __shared__ float4 tile[]; // one particle for each thread: x, y, z, mass
    const int begin = first[blockIdx.x], end = first[blockIdx.x + 1], count = blockDim.x;
    for (int base = begin; base < end; base += count) {
        const int i = base + threadIdx.x;
        const float4 mine = i < end ? particles[i] : make_float4(0, 0, 0, 0);
        float4 sum = make_float4(0, 0, 0, 0);
        double mass = 0, potential = 0;
        for (int from = begin; from < end; from += count) {
            __syncthreads();
            if (from + (int)threadIdx.x < end)
                tile[threadIdx.x] = particles[from + threadIdx.x];
            __syncthreads();
            for (int k = 0; k < min(count, end - from); ++k) {
                const float x = tile[k].x - mine.x, y = tile[k].y - mine.y, z = tile[k].z - mine.z;
                const float distance = sqrtf(x * x + y * y + z * z + pull.softening), w = tile[k].w;
                const float part = pull.strength * w / (distance * distance * distance);
                sum.x += part * x, sum.y += part * y, sum.z += part * z;
                mass += w, potential += w / distance;
            }
        }
        if (i < end) {
            force[i] = make_float4(mine.w * sum.x, mine.w * sum.y, mine.w * sum.z, mine.w);
            felt[i] = make_double2(mass, potential);
        }
    }
}
