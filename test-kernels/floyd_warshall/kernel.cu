// golden: numpy integers
extern "C" __global__ void relax(int *d, int *hop, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  int via = d[i * n + k] + d[k * n + j];
  if (via < d[i * n + j]) {
    d[i * n + j] = via;
    hop[i * n + j] = k;
  }
}
