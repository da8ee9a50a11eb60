// golden: Python integers
// Darts at a quarter of a circle: integers throughout, so that every count is exact.
struct Generator {
  unsigned s;
  __device__ unsigned operator()() {
    s ^= s << 13;
    s ^= s >> 17;
    return s ^= s << 5;
  }
};
extern "C" __global__ void darts(unsigned *seeds, unsigned *hits, unsigned *total, int n, int throws) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Generator next{seeds[i]};
  unsigned inside = 0;
  for (int k = 0; k < throws; k++) {
    unsigned long long x = next() >> 1, y = next() >> 1;
    inside += x * x + y * y < 1ULL << 62;
  }
  seeds[i] = next.s;
  hits[i] = inside;
  atomicAdd(total, inside);
}
