// golden: numpy float64 with error bounds
// C = alpha A A' + beta C, both operands read along rows.
__kernel void rank_k(__global const float *a, __global float *c, float alpha, float beta, int n, int m) {
  int j = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int i = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (i >= n || j > i)
    return;
  float sum = c[i * n + j] * beta;
  for (int k = 0; k < m; k++)
    sum += alpha * a[i * m + k] * a[j * m + k];
  c[i * n + j] = sum;
  if (i != j)
    c[j * n + i] = sum;
}
