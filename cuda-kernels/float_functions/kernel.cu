// golden: numpy float64 with tolerances
// Functions of mathematics in single precision, each into its own column.
#include <math.h>

__global__ void functions(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], *o = out + 16 * i;
    o[0] = sinf(x);
    o[1] = cosf(x);
    o[2] = expf(x);
    o[3] = logf(x);
    o[4] = sqrtf(x);
    o[5] = rsqrtf(x);
    o[6] = cbrtf(x);
    o[7] = powf(x, 1.5f);
    o[8] = atan2f(x, 2.0f);
    o[9] = tanhf(x);
    o[10] = erff(x);
    o[11] = hypotf(x, 3.0f);
    o[12] = fmodf(x, 0.75f);
    o[13] = log1pf(x);
    o[14] = std::floor(x * 4.0f);
    o[15] = (float)pow((double)x, 2.5);
}
