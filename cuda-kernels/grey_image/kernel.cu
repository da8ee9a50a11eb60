// golden: numpy integers
// Four bytes a pixel to one: weights in fixed point.
__global__ void grey(const uchar4 *in, unsigned char *out, int width, int height, int pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 p = in[y * pitch + x];
        out[y * width + x] = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8;
    }
}
