// golden: numpy comparisons
// For warps of 32 lanes, as CUDA has them.
// What a warp and a block agree on.
extern "C" __global__ void votes(const int *in, int *warps, int *blocks, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize, v = in[i];
  int any = __any_sync(0xffffffffu, v > limit), all = __all_sync(0xffffffffu, v > limit);
  if (lane == 0)
    warps[i / warpSize] = (any != 0) + 2 * (all != 0);
  int count = __syncthreads_count(v > limit), some = __syncthreads_or(v > limit), every = __syncthreads_and(v > limit);
  if (threadIdx.x == 0)
    blocks[blockIdx.x] = count * 4 + (some != 0) + 2 * (every != 0);
}
// Lanes that hold the same key as a lane, and a vote among those that take part in a branch.
extern "C" __global__ void partners(const int *keys, unsigned *same, unsigned *odd) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize, key = keys[i];
  unsigned mask = 0;
  for (int k = 0; k < warpSize; k++)
    mask |= (unsigned)(__shfl_sync(0xffffffffu, key, k) == key) << k;
  same[i] = mask;
  odd[i] = 0;
  if (lane & 1)
    odd[i] = __ballot_sync(__activemask(), key > 2);
}
