// golden: numpy float64 with error bounds
// Sparse times dense: the rows of B that a sparse row names are added up along lanes.
__kernel void spmm(__global const int *rows, __global const short *columns, __global const float *values, __global const float *b, __global float *c, int n, int width) {
  int j = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int i = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (i >= n || j >= width)
    return;
  float sum = 0.0f;
  for (int k = rows[i]; k < rows[i + 1]; k++)
    sum += values[k] * b[columns[k] * width + j];
  c[i * width + j] = sum;
}
