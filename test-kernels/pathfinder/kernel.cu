// golden: numpy integers
extern "C" __global__ void rows(const int *from, int *to, const int *wall, int cols, int first, int depth) {
  __shared__ int s[2][32];
  int t = threadIdx.x, n = blockDim.x;
  int x = (int)blockIdx.x * (n - 2 * depth) + t - depth;
  bool inside = x >= 0 && x < cols;
  int value = inside ? from[x] : 1 << 28;
  s[0][t] = value;
  for (int k = 0; k < depth; k++) {
    __syncthreads();
    const int *now = s[k & 1];
    value = min(now[t], min(now[max(t - 1, 0)], now[min(t + 1, n - 1)]));
    value = inside ? value + wall[(first + k) * cols + x] : 1 << 28;
    s[~k & 1][t] = value;
  }
  if (inside && t >= depth && t < n - depth)
    to[x] = value;
}
