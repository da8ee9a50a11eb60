// golden: numpy float64 with error bounds
extern "C" __global__ void sweep(float *a, int w, int h, int colour) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1, at = y * w + x;
  if (x >= w - 1 || y >= h - 1 || ((x + y) & 1) != colour)
    return;
  a[at] = (a[at - w] + a[at - 1] + a[at + 1] + a[at + w]) * 0.25f;
}
