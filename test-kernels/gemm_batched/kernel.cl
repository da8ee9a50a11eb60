// golden: numpy float64 with error bounds
// A pair of 4 x 4 matrices a work-item, rows as float4; matrices stand one behind the other.
__kernel void gemm4(__global const float4 *a, __global const float4 *b, __global float4 *c, int count) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  float4 rows[4];
  for (int k = 0; k < 4; k++)
    rows[k] = b[4 * i + k];
  for (int k = 0; k < 4; k++) {
    float4 v = a[4 * i + k];
    c[4 * i + k] = v.x * rows[0] + v.y * rows[1] + v.z * rows[2] + v.w * rows[3];
  }
}
// 3 x 3, one element a work-item: three groups of lanes share a matrix.
__kernel void gemm3(__global const double *a, __global const double *b, __global double *c, int count) {
  int i = get_global_id(0), which = i / 9, at = i % 9, row = at / 3, column = at % 3;
  if (which >= count)
    return;
  __global const double *x = a + 9 * which + 3 * row, *y = b + 9 * which + column;
  c[i] = x[0] * y[0] + x[1] * y[3] + x[2] * y[6];
}
