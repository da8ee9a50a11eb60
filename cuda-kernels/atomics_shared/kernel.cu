// golden: numpy integers; sums of quarters are exact
__device__ double add_double(double *at, double v) {
  unsigned long long *bits = (unsigned long long *)at, old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, (unsigned long long)__double_as_longlong(v + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
extern "C" __global__ void all(const int *in, int *integers, unsigned *words, unsigned long long *wide, float *sum, double *total, int n) {
  __shared__ int block;
  if (threadIdx.x == 0)
    block = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int v = in[i];
    atomicAdd(&integers[0], v);
    atomicSub(&integers[1], v);
    atomicMin(&integers[2], v);
    atomicMax(&integers[3], v);
    atomicAnd(&words[0], (unsigned)v);
    atomicOr(&words[1], (unsigned)v);
    atomicXor(&words[2], (unsigned)v);
    atomicInc(&words[3], 6u);  // counts 0 ... 6
    atomicDec(&words[4], 10u); // 10 ... 0
    if (atomicExch(&words[5], 1u) == 0)
      words[6] = 77; // one of them only
    atomicAdd(&wide[0], (unsigned long long)v << 20);
    atomicMax(&wide[1], (unsigned long long)(unsigned)v << 3);
    atomicAdd(sum, v * 0.25f);
    add_double(total, v * 0.25);
    atomicAdd(&block, v & 3);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(&integers[4], block);
}
