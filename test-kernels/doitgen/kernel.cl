// golden: numpy float64 with error bounds
__kernel void product(__global const float *a, __global const float *c, __global float *sum, int np) {
  int p = get_global_id(0), q = get_global_id(1), r = get_global_id(2), nq = get_global_size(1);
  if (p >= np)
    return;
  int row = (r * nq + q) * np;
  float s = 0.0f;
  for (int k = 0; k < np; k++)
    s += a[row + k] * c[k * np + p];
  sum[row + p] = s;
}
__kernel void back(__global float *a, __global const float *sum) {
  size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
  a[i] = sum[i];
}
