// golden: numpy float16, one rounding an operation
// Half precision, one value and two at a time.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__global__ void blend(const __half2 *a, const __half2 *b, __half2 *out, __half weight, int n)
{
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n) {
        __half2 difference = __hsub2(a[i], b[i]);
        out[i] = __hadd2(b[i], __hmul2(__half2half2(weight), difference));
    }
}
