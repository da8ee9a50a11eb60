// golden: numpy float64; one rounding
__kernel void gather(__global const float *table, __global const int *idx, __global const float *w, __global float *out, int n) {
  int i = get_global_id(0);
  if (i < n)
    out[i] = table[idx[i]] * w[i];
}
