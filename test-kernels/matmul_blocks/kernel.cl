// golden: numpy float64 with error bounds
#define TILE 8
#define tx ((int)get_local_id(0))
#define ty ((int)get_local_id(1))
#define bx ((int)get_group_id(0))
#define by ((int)get_group_id(1))
// C[m][n] = A[m][k] * B[k][n]; what lies beyond an edge counts as zero.
__kernel void matmul(__global float *c, __global const float *a, __global const float *b, int m, int n, int k) {
  __local float as[TILE][TILE], bs[TILE][TILE];
  int row = by * TILE + ty, column = bx * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
    as[ty][tx] = row < m && t * TILE + tx < k ? a[row * k + t * TILE + tx] : 0.0f;
    bs[ty][tx] = t * TILE + ty < k && column < n ? b[(t * TILE + ty) * n + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++)
      sum += as[ty][i] * bs[i][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}
