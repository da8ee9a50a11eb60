// golden: numpy int64 sums, wrapped to 32 bits
// For warps of 32 lanes, as CUDA has them.
// Sums of blocks by shuffles: down within a warp, the warps' sums in shared memory, the first warp adds them.
__inline__ __device__ int warp_sum(int v) {
  for (int by = warpSize / 2; by > 0; by /= 2)
    v += __shfl_down_sync(0xffffffffu, v, by);
  return v;
}
extern "C" __global__ void block_sums(const int *in, int *sums, int n) {
  __shared__ int parts[32];
  int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  int v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  v = warp_sum(v);
  if (lane == 0)
    parts[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < blockDim.x / warpSize ? parts[lane] : 0;
    v = warp_sum(v);
    if (lane == 0)
      sums[blockIdx.x] = v;
  }
}
// The same sum in every lane, by exchange.
extern "C" __global__ void spread(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  for (int by = 1; by < warpSize; by *= 2)
    v += __shfl_xor_sync(0xffffffffu, v, by);
  out[i] = v;
}
