// golden: numpy float64, sums of products of small integers, exact
// Double precision: shuffles of 64 bits, an atomic addition a warp.
__global__ void dot(const double *a, const double *b, double *result, int n)
{
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int step = warpSize / 2; step > 0; step /= 2)
        sum += __shfl_down(sum, step);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(result, sum);
}
