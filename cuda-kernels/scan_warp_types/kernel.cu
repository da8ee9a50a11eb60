// golden: numpy int64 cumulative sums
// For warps of 32 lanes, as CUDA has them.
// Prefix sums in a warp by shuffles up, for every type by a template; a block's by the warps' totals.
template <typename T> __device__ T scanned(T v) {
  int lane = threadIdx.x & (warpSize - 1);
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    T other = __shfl_up_sync(0xffffffffu, v, by);
    if (lane >= by)
      v += other;
  }
  return v;
}
template <typename T> __device__ void scan_block(const T *in, T *out, T *totals) {
  __shared__ T warps[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & (warpSize - 1), warp = threadIdx.x / warpSize;
  T v = scanned(in[i]);
  if (lane == warpSize - 1)
    warps[warp] = v;
  __syncthreads();
  if (warp == 0)
    warps[lane] = scanned(lane < blockDim.x / warpSize ? warps[lane] : T(0));
  __syncthreads();
  if (warp > 0)
    v += warps[warp - 1];
  out[i] = v;
  if (threadIdx.x == blockDim.x - 1)
    totals[blockIdx.x] = v;
}
extern "C" __global__ void scan_int(const int *in, int *out, int *totals) { scan_block(in, out, totals); }
extern "C" __global__ void scan_long(const long long *in, long long *out, long long *totals) { scan_block(in, out, totals); }
extern "C" __global__ void scan_double(const double *in, double *out, double *totals) { scan_block(in, out, totals); }
