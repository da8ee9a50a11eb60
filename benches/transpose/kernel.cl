// Transposes a matrix without tiles: a warp reads a row's line and writes a line for every lane.
__kernel void transpose(__global const float *in, __global float *out, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  out[x * n + y] = in[y * n + x];
}
