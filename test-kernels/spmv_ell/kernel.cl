// golden: numpy float64 with error bounds
__kernel void spmv(__global const int *column, __global const float *value, __global const float *x, __global float *y, int n, int width) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum = 0.0f;
  for (int k = 0; k < width; k++) {
    int c = column[k * n + i];
    if (c < 0)
      break;
    sum += value[k * n + i] * x[c];
  }
  y[i] = sum;
}
