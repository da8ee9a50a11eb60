// golden: numpy float64 with error bounds
extern "C" __global__ void product(const float *a, const float *c, float *sum, int np) {
  int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y, r = blockIdx.z * blockDim.z + threadIdx.z;
  int nq = gridDim.y * blockDim.y;
  if (p >= np)
    return;
  int row = (r * nq + q) * np;
  float s = 0.0f;
  for (int k = 0; k < np; k++)
    s += a[row + k] * c[k * np + p];
  sum[row + p] = s;
}
extern "C" __global__ void back(float *a, const float *sum) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  unsigned i = x + gridDim.x * blockDim.x * (y + gridDim.y * blockDim.y * z);
  a[i] = sum[i];
}
