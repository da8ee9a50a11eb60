// golden: numpy float32, one rounding an operation in the order written here; contraction is off, so the counts are exactly determined
//
// A loop that every lane leaves at its own time.

#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(__global int *out, float x0, float y0, float dx, float dy, int limit)
{
    int px = get_global_id(0);
    int py = get_global_id(1);
    float cx = x0 + dx * px;
    float cy = y0 + dy * py;
    float x = 0.0f, y = 0.0f;
    int i = 0;
    for (; i < limit; ++i) {
        float xx = x * x;
        float yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
    }
    out[py * get_global_size(0) + px] = i;
}
