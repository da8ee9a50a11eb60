// golden: numpy, sums of quarters, exact in any order
// Shuffles in a warp, one word of static shared memory a warp, whatever the machine's warp size is.
__device__ float warp_sum(float x)
{
    for (int step = warpSize / 2; step > 0; step /= 2)
        x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

__global__ void reduce(const float *in, float *total, int n)
{
    __shared__ float part[64];
    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x += in[i];
    x = warp_sum(x);
    if (threadIdx.x % warpSize == 0)
        part[threadIdx.x / warpSize] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / warpSize; w++)
            x += part[w];
        atomicAdd(total, x);
    }
}
