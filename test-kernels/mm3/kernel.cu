// golden: numpy float64 with error bounds
extern "C" __global__ void mm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int k, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m)
    return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++)
    sum = fmaf(a[y * k + i], b[i * n + x], sum);
  c[y * n + x] = sum;
}
