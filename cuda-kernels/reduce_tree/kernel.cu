// golden: numpy int64 sums
// A tree in memory whose size the launch says, then one atomic addition a block.
__global__ void reduce(const int *__restrict__ in, long long *total, int n)
{
    extern __shared__ long long part[];
    long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd((unsigned long long *)total, (unsigned long long)part[0]);
}
