// golden: numpy float32, the same operations in the same order
// Seven points in three dimensions of blocks; each operation is rounded by itself.
__global__ void stencil(const float *in, float *out, dim3 size)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x == 0 || y == 0 || z == 0 || x + 1 >= size.x || y + 1 >= size.y || z + 1 >= size.z)
        return;
    unsigned row = size.x, plane = size.x * size.y, i = z * plane + y * row + x;
    float sum = __fadd_rn(in[i - 1], in[i + 1]);
    sum = __fadd_rn(sum, __fadd_rn(in[i - row], in[i + row]));
    sum = __fadd_rn(sum, __fadd_rn(in[i - plane], in[i + plane]));
    out[i] = __fsub_rn(__fmul_rn(sum, 0.25f), in[i]);
}
