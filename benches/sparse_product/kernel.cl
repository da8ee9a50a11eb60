// Sparse matrix times vector, a work-item a row: columns and values by place in the row, then by row, and
// each row's length (ELLPACK-R).
__kernel void sparse_product(__global const int *lengths, __global const int *columns, __global const float *values,
                             __global const float *x, __global float *y, int rows) {
  int row = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < lengths[row]; k++)
    sum += values[k * rows + row] * x[columns[k * rows + row]];
  y[row] = sum;
}
