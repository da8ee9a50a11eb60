// Golden: Python numbers.
__constant float table[8] = {1.5f, -2.25f, 3.0f, 0.5f, 7.0f, -1.0f, 0.25f, 9.5f};
__constant struct { char pad; int v[4]; } more = {1, {10, 20, 30, 40}};
__kernel void lookup(__global const int *idx, __global float *out, __global int *priv) {
  int g = get_global_id(0), i = idx[g];
  out[g] = table[i] * 2.0f + more.v[i & 3];
  int scratch[8];
  for (int k = 0; k < 8; k++)
    scratch[k] = (k * k + i) % 13;
  priv[g] = scratch[(i + 3) & 7];
}
