// golden: Python integers
extern "C" __global__ void integers(const int *a, const int *b, const unsigned long long *wide, int *out, unsigned long long *out_wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = a[i], y = b[i];
  int *o = out + 12 * i;
  o[0] = __clz(x);
  o[1] = __ffs(x);
  o[2] = __popc(x);
  o[3] = __brev(x);
  o[4] = __mulhi(x, y);
  o[5] = __umulhi(x, y);
  o[6] = __mul24(x, y);
  o[7] = __sad(x, y, 5u);
  o[8] = __byte_perm(x, y, 0x5214);
  o[9] = __hadd(x, y);
  o[10] = __funnelshift_l(x, y, 7);
  o[11] = abs(x) + min(x, y) - max(x, y);
  unsigned long long w = wide[i], *u = out_wide + 5 * i;
  u[0] = __clzll(w);
  u[1] = __ffsll(w);
  u[2] = __popcll(w);
  u[3] = __brevll(w);
  u[4] = __umul64hi(w, w ^ 0x0123456789abcdefULL);
}
// Bits of floats, conversions with named roundings.
extern "C" __global__ void floats(const float *a, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = a[i];
  int *o = out + 8 * i;
  o[0] = __float_as_int(x);
  o[1] = __float2int_rn(x);
  o[2] = __float2int_rz(x);
  o[3] = __float2int_ru(x);
  o[4] = __float2int_rd(x);
  o[5] = __float_as_int(__int_as_float(__float_as_int(x) ^ 0x80000000));
  o[6] = (int)rintf(x) - (int)truncf(x) + signbit(x);
  o[7] = __float_as_int(fminf(fmaxf(x, -2.5f), 2.5f)) + isnan(x);
}
