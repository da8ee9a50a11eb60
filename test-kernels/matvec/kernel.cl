// golden: numpy float64 with error bounds
// One row a work-item: the walk down the columns is coalesced.
__kernel void matvec(__global const float *a, __global const float *x, __global float *y, int rows, int cols) {
  int row = get_global_id(0);
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int k = 0; k < cols; k++)
    sum += a[k * rows + row] * x[k];
  y[row] = sum;
}
