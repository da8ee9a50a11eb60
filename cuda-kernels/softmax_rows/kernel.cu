// golden: numpy float64 with a tolerance
// A block a row: the greatest and the sum by shuffles and shared memory, in a function for any operation.
struct Greatest { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };

template <typename Op>
__device__ float over_block(float x, Op op, float *part)
{
    for (int step = warpSize / 2; step > 0; step /= 2)
        x = op(x, __shfl_xor_sync(0xffffffffu, x, step));
    if (threadIdx.x % warpSize == 0)
        part[threadIdx.x / warpSize] = x;
    __syncthreads();
    x = part[0];
    for (int w = 1; w < blockDim.x / warpSize; w++)
        x = op(x, part[w]);
    __syncthreads();
    return x;
}

__global__ void softmax(const float *in, float *out, int columns)
{
    __shared__ float part[32];
    const float *row = in + blockIdx.x * columns;
    float most = -3.4e38f, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        most = fmaxf(most, row[c]);
    most = over_block(most, Greatest(), part);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        sum += expf(row[c] - most);
    sum = over_block(sum, Sum(), part);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] = expf(row[c] - most) / sum;
}
