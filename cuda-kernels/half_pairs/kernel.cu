// Pairs of halves: arithmetic in place, extremes, comparisons, exchanges, roundings, and conversions of integers and bits.
#include <cuda_fp16.h>

__global__ void pairs(const half2 *a, const half2 *b, half2 *o, uint16_t *bits, int *whole, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half2 x = a[i], y = b[i];
  half2 sum = x;
  sum += y;
  sum *= make_half2(0.5f, 2);
  sum -= __lowhigh2highlow(x);
  half2 *at = o + 8 * i;
  at[0] = sum;
  at[1] = __hmax2(x, y);
  at[2] = __hmin2(-x, __habs2(y));
  at[3] = __hgt2(x, y);
  at[4] = __lows2half2(x, y) / __highs2half2(__hneg2(x), y);
  at[5] = half2(hfloor(x.x), hceil(x.y));
  at[6] = h2trunc(y);
  at[7] = __low2half2(__hfma2(x, y, x));
  __half_raw raw = x.x;
  bits[2 * i] = raw.x;
  raw.x ^= 0x8000;
  bits[2 * i + 1] = __half_as_ushort(half(raw) + __uint2half_rn(1u));
  whole[2 * i] = __half2int_rz(x.x);
  whole[2 * i + 1] = __half2int_rn(y.y) + (i > INT_MAX - 1);
}
