// golden: numpy cumulative sums
// Inclusive prefix sums of each block, after Hillis and Steele, in two buffers that change places.
__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int buffer[2][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    int from = 0;
    buffer[0][t] = i < n ? in[i] : 0;
    for (int step = 1; step < blockDim.x; step *= 2) {
        __syncthreads();
        int v = buffer[from][t];
        if (t >= step)
            v += buffer[from][t - step];
        from = 1 - from;
        buffer[from][t] = v;
    }
    if (i < n)
        out[i] = buffer[from][t];
}
