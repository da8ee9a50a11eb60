// golden: numpy
// Conversions with each way of rounding, and the bits of numbers.
__global__ void convert(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    int *o = out + 8 * i;
    o[0] = __float2int_rn(x);
    o[1] = __float2int_rz(x);
    o[2] = __float2int_ru(x);
    o[3] = __float2int_rd(x);
    o[4] = __float_as_int(x);
    o[5] = __half_as_ushort(__float2half(x));
    o[6] = __double2hiint((double)x);
    o[7] = (int)__double2ll_rn((double)x * 1000.0);
}
