// golden: numpy float64, two sweeps
//
// A 9-point stencil; the border is copied. Two launches swap source and destination.

__kernel void stencil(__global const float *restrict src, __global float *restrict dst, int width, int height, float wc, float we, float wd)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    int i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        dst[i] = src[i];
        return;
    }
    float edges = src[i - 1] + src[i + 1] + src[i - width] + src[i + width];
    float corners = src[i - width - 1] + src[i - width + 1] + src[i + width - 1] + src[i + width + 1];
    dst[i] = wc * src[i] + we * edges + wd * corners;
}
