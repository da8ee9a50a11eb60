// golden: numpy float64 with error bounds
__kernel void row_dot(__global const float *a, __global const float *x, __global float *y, __local float *part, int cols) {
  int row = get_group_id(0), l = get_local_id(0), n = get_local_size(0);
  float sum = 0.0f;
  for (int k = l; k < cols; k += n)
    sum += a[row * cols + k] * x[k];
  part[l] = sum;
  for (int reach = n / 2; reach; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < reach)
      part[l] += part[l + reach];
  }
  if (l == 0)
    y[row] = part[0];
}
