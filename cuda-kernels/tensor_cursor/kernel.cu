// golden: numpy
// Descriptions of tensors and ranges by value, whose sizes and counters the kernel changes as it goes, as libraries of
// elementwise operations do with their iterators.
struct Cursor {
    int sizes[4], strides[4], rank, at;
    __device__ int offset(int linear) const
    {
        int sum = at;
        for (int d = rank - 1; d >= 0; d--) {
            sum += linear % sizes[d] * strides[d];
            linear /= sizes[d];
        }
        return sum;
    }
    __device__ void next(int steps) { at += steps * strides[0]; }
};

struct Range {
    int begin, end, step;
    float scale[3];
};

__global__ void apply(float *o, Cursor out, const float *v, Cursor in, Range range)
{
    range.begin += blockIdx.x * blockDim.x + threadIdx.x;
    range.step = gridDim.x * blockDim.x;
    if (range.begin & 1)
        range.scale[1] = -range.scale[1];
    for (; range.begin < range.end; range.begin += range.step)
        o[out.offset(range.begin)] = fmaf(v[in.offset(range.begin)], range.scale[range.begin % 3], range.scale[1]);
}

__global__ void rows(int *t, Cursor c, int n)
{
    c.next(blockIdx.x);
    for (c.rank = threadIdx.x; c.rank < c.sizes[1]; c.rank += blockDim.x)
        t[c.at + c.rank * c.strides[1]] += n * c.rank - blockIdx.x;
}
