// Golden: Python integers.
__device__ unsigned long long rotate(unsigned long long v, int by) { return v << by | v >> (64 - by); }
extern "C" __global__ void hash64(unsigned long long *x) {
  size_t g = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  unsigned long long v = x[g], h = v;
  for (int i = 0; i < 20; i++) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = rotate(h, 27);
    h = h * 5 + 0x52dce729 + i;
    h ^= __umul64hi(h, v);
  }
  x[g] = h % 1000003 + (h / 7 & 0xffffffff00000000ULL);
}
