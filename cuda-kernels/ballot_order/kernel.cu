// golden: numpy indexing
// For warps of 32 lanes, as CUDA has them.
// Values that pass a test are put together: a ballot a warp, a lane's place from the bits below its own, one atomic a warp.
extern "C" __global__ void keep(const int *in, int *parts, int *start, int *count, int *top, int n, int least) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize, warp = i / warpSize;
  int v = i < n ? in[i] : least - 1;
  bool pass = v >= least;
  unsigned passing = __ballot_sync(0xffffffffu, pass);
  int first = __ffs(passing) - 1, base = 0;
  if (lane == 0) {
    base = atomicAdd(top, __popc(passing));
    start[warp] = base;
    count[warp] = passing ? __popc(passing) * 100 + first : 0;
  }
  base = __shfl_sync(0xffffffffu, base, 0);
  if (pass)
    parts[base + __popc(passing & ((1u << lane) - 1))] = v;
}
// The parts in the order of their warps.
extern "C" __global__ void order(const int *parts, const int *start, const int *count, int *out) {
  int warp = blockIdx.x, before = 0;
  for (int k = 0; k < warp; k++)
    before += count[k] / 100;
  if (threadIdx.x < count[warp] / 100)
    out[before + threadIdx.x] = parts[start[warp] + threadIdx.x];
}
