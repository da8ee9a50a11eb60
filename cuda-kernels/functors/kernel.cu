// golden: numpy
// A function object and a lambda as arguments of a template, a class with an operator.
struct Line {
    int slope, offset;
    __device__ int operator()(int x) const { return slope * x + offset; }
};

template <class F>
__device__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        f(i);
}

template <class F>
__global__ void map(const int *in, int *out, F f, int n)
{
    for_each(n, [=](int i) { out[i] = f(in[i]); });
}
