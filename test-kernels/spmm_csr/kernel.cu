// golden: numpy float64 with error bounds
// Sparse times dense: the rows of B that a sparse row names are added up along lanes.
extern "C" __global__ void spmm(const int *rows, const short *columns, const float *values, const float *b, float *c, int n, int width) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= width)
    return;
  float sum = 0.0f;
  for (int k = rows[i]; k < rows[i + 1]; k++)
    sum += values[k] * b[columns[k] * width + j];
  c[i * width + j] = sum;
}
