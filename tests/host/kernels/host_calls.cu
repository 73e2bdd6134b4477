#include <cstdio>
__device__ int count;
struct Knee { float low, high; };
__constant__ Knee knee;
extern "C" __global__ void wanted(int *y) { y[0] = ++count; if (y[0] < 0) printf("%d of %f\n", y[0], knee.low); }
int main(int number, char **words)
{
    const Knee given{1, 2};
    int blocks, block, found;
    cudaFuncAttributes attributes;
    switch (number) {  // a compiler makes a table of such a switch, which must not keep main
    case 0: cudaMemcpyToSymbol(knee, &given, sizeof given); break;
    case 1: cudaMemcpyFromSymbol(&found, count, sizeof found); break;
    case 2: cudaFuncSetAttribute(wanted, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); break;
    case 3: cudaFuncGetAttributes(&attributes, wanted); break;
    case 4: cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wanted, 256, 0); break;
    case 5: cudaOccupancyMaxPotentialBlockSize(&blocks, &block, wanted); break;
    default: std::puts(words[0]);
    }
}
