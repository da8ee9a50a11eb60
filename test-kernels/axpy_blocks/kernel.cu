// golden: numpy float64 with error bounds
extern "C" __global__ void axpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
// As many blocks as the device likes: each walks on by the size of the grid.
extern "C" __global__ void affine(int n, float scale, float shift, const float *x, float *z) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    z[i] = x[i] * scale + shift;
}
extern "C" __global__ void reversed(int n, const float *x, float *w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  w[n - 1 - i] = x[i];
}
