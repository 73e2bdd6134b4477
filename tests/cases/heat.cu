// One step of the heat equation in a box of nz x ny x nx points, whose surface stays as it is.
extern "C" __global__ void heat(const double *__restrict__ u, double *__restrict__ v, int nx, int ny, int nz, double c)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    const long long row = nx, plane = row * ny, i = z * plane + y * row + x;
    const bool inside = x > 0 && x + 1 < nx && y > 0 && y + 1 < ny && z > 0 && z + 1 < nz;
    const double lap =
        inside ? u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane] - 6 * u[i] : 0;
    v[i] = u[i] + c * lap;
}
