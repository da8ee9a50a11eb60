// golden: numpy float32, the same operations in the same order
// Heat on a plate: two launches that change places, as often as the case says.
__global__ void relax(const float *from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    float across = __fadd_rn(from[i - 1], from[i + 1]), down = __fadd_rn(from[i - width], from[i + width]);
    to[i] = __fmul_rn(0.25f, __fadd_rn(across, down));
}
