// golden: numpy, the same products
// One template for three types of numbers, each an instance that the launch names.
template <typename T>
__global__ void scale(T *a, T factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = a[i] * factor;
}
