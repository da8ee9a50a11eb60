// Golden: numpy float64.
__kernel void spmv(__global const int *rows, __global const int *columns, __global const double *values,
                   __global const double *x, __global double *y, int n) {
  int i = get_global_id(0);
  if (i < n) {
    double sum = 0.0;
    for (int k = rows[i]; k < rows[i + 1]; k++)
      sum += values[k] * x[columns[k]];
    y[i] = sum;
  }
}
