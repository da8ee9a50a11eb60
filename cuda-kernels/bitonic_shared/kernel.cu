// golden: numpy sort
// A bitonic network in shared memory, each block its own keys.
__global__ void sort(unsigned int *keys)
{
    __shared__ unsigned int k[512];
    unsigned int *mine = keys + blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        k[i] = mine[i];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < 256; t += blockDim.x) {
                int i = 2 * t - (t & (stride - 1));
                bool up = (i & size) == 0;
                unsigned int a = k[i], b = k[i + stride];
                if ((a > b) == up) {
                    k[i] = b;
                    k[i + stride] = a;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        mine[i] = k[i];
}
