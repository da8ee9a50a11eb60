// golden: numpy float64 with error bounds
__kernel void spmv(__global const int *start, __global const int *length, __global const int *column, __global const float *value,
                   __global const int *perm, __constant float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = 0, m = length[i]; k < m; k++) {
    int at = start[k] + i;
    sum += value[at] * x[column[at]];
  }
  y[perm[i]] = sum;
}
