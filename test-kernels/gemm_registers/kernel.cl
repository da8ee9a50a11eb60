// golden: numpy float64 with error bounds
#define R 4
// A square of R x R sums a work-item in registers; A is stored by columns, so both operands come as vectors.
__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int m, int n, int k) {
  int row = R * (get_group_id(1) * get_local_size(1) + get_local_id(1));
  int column = R * (get_group_id(0) * get_local_size(0) + get_local_id(0));
  if (row >= m || column >= n)
    return;
  float sum[R][R];
  for (int i = 0; i < R; i++)
    for (int j = 0; j < R; j++)
      sum[i][j] = 0.0f;
  for (int p = 0; p < k; p++) {
    float4 x = vload4(0, a + p * m + row), y = vload4(0, b + p * n + column);
    float u[R] = {x.x, x.y, x.z, x.w}, v[R] = {y.x, y.y, y.z, y.w};
    for (int i = 0; i < R; i++)
      for (int j = 0; j < R; j++)
        sum[i][j] += u[i] * v[j];
  }
  for (int i = 0; i < R; i++)
    vstore4((float4)(sum[i][0], sum[i][1], sum[i][2], sum[i][3]), 0, c + (row + i) * n + column);
}
