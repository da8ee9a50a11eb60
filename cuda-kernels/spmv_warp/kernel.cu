// golden: numpy, products of small integers, exact
// A warp a row of a sparse matrix; x is read through the path for what is only read.
__global__ void spmv(const int *start, const int *column, const float *value, const float *x, float *y, int rows)
{
    int lane = threadIdx.x % warpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = start[row] + lane; i < start[row + 1]; i += warpSize)
        sum += value[i] * __ldg(&x[column[i]]);
    for (int step = warpSize / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}
