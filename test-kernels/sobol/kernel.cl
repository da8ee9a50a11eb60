// golden: Python integers; the conversion to float32 rounds once
__kernel void sobol(__global const uint *directions, __global uint *bits, __global float *points, int n) {
  __local uint v[32];
  int d = get_global_id(1), t = get_local_id(0);
  for (int k = t; k < 32; k += get_local_size(0))
    v[k] = directions[d * 32 + k];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_global_id(0);
  if (i >= n)
    return;
  uint x = 0;
  for (uint gray = i ^ (i >> 1); gray; gray &= gray - 1)
    x ^= v[popcount(~gray & (gray - 1))];
  bits[d * n + i] = x;
  points[d * n + i] = x * 0x1p-32f;
}
