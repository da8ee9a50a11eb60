// golden: numpy, products and sums of small integers, exact
// A filter in constant memory, its borders clamped.
__constant__ float weights[7] = {1, 2, 3, 4, 3, 2, 1};

__global__ void filter(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int t = -3; t <= 3; t++)
        sum += weights[t + 3] * in[min(max(i + t, 0), n - 1)];
    out[i] = sum;
}
