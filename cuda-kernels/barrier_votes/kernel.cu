// golden: numpy
// Barriers that count.
__global__ void votes(const int *in, int *count, int *all, int *any)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int c = __syncthreads_count(v > 0), a = __syncthreads_and(v > -50), o = __syncthreads_or(v > 98);
    if (threadIdx.x == 0) {
        count[blockIdx.x] = c;
        all[blockIdx.x] = a != 0;
        any[blockIdx.x] = o != 0;
    }
}
