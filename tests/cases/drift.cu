// Moves n particles by their velocity.
struct Particle {
    float x, y;
    double vx, vy;
    unsigned char kind; // and seven bytes that nothing stands in
};

extern "C" __global__ void drift(Particle *particles, int n, float seconds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        particles[i].x += seconds * particles[i].vx;
        particles[i].y += seconds * particles[i].vy;
    }
}
