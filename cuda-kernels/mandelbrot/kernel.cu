// golden: numpy float64, the same operations
// Loops of different length in double precision.
__global__ void mandelbrot(int *count, int width, int height, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    double cr = __dadd_rn(__dmul_rn(x, 3.0 / 64), -2.25), ci = __dadd_rn(__dmul_rn(y, 2.5 / 64), -1.25), r = 0, i = 0;
    int n = 0;
    for (; n < most; n++) {
        double rr = __dmul_rn(r, r), ii = __dmul_rn(i, i);
        if (__dadd_rn(rr, ii) > 4.0)
            break;
        i = __dadd_rn(__dmul_rn(__dmul_rn(2.0, r), i), ci);
        r = __dadd_rn(__dsub_rn(rr, ii), cr);
    }
    count[y * width + x] = n;
}
