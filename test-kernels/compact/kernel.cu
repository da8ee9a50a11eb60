// golden: numpy indexing
extern "C" __global__ void compact(const int *in, int *parts, int2 *place, int *top, int n) {
  __shared__ int s[64];
  __shared__ int start;
  int t = threadIdx.x, g = blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] > 20;
  s[t] = keep;
  for (int step = 1; step < g; step *= 2) {
    __syncthreads();
    int other = t >= step ? s[t - step] : 0;
    __syncthreads();
    s[t] += other;
  }
  __syncthreads();
  if (t == g - 1) {
    start = atomicAdd(top, s[t]);
    place[blockIdx.x] = make_int2(start, s[t]);
  }
  __syncthreads();
  if (keep)
    parts[start + s[t] - 1] = in[i];
}
extern "C" __global__ void order(const int *parts, const int2 *place, int *counts, int *out) {
  int g = blockIdx.x, before = 0;
  for (int k = 0; k < g; k++)
    before += place[k].y;
  for (int i = threadIdx.x; i < place[g].y; i += blockDim.x)
    out[before + i] = parts[place[g].x + i];
  if (threadIdx.x == 0)
    counts[g] = place[g].y;
}
