// Golden: numpy float64.
extern "C" __global__ void spmv(const int *rows, const int *columns, const double *values, const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double sum = 0.0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += values[k] * __ldg(&x[columns[k]]);
    y[i] = sum;
  }
}
