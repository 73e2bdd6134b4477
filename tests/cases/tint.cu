// A colour, by the light that falls on it: structs in a struct, and a vector that CUDA aligns to 16 bytes.
struct Lamp {
    float power;
    float4 colour;
};

struct Room {
    char name[3];
    Lamp lamps[2];
    double dust;
};

extern "C" __global__ void tint(const float *x, float4 *y, int n, Room room)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 2; ++k) {
        const float power = x[i] * room.lamps[k].power * room.dust;
        const float4 colour = room.lamps[k].colour;
        sum.x += power * colour.x, sum.y += power * colour.y, sum.z += power * colour.z, sum.w += power * colour.w;
    }
    y[i] = sum;
}
