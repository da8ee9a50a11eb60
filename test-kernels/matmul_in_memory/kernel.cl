// golden: numpy float64 with error bounds
// The sum lives in C: every step of the inner loop loads and stores it.
__kernel void matmul(__global const float *a, __global const float *b, __global float *c, float alpha, float beta, int n) {
  int j = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int i = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (i < n && j < n) {
    c[i * n + j] *= beta;
    for (int k = 0; k < n; k++)
      c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
  }
}
