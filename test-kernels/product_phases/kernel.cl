// golden: numpy float64 with error bounds
// A walk along linked lines: few registers while loads are under way, then for a moment two 4 x 4 matrices and their product.
__kernel void walk(__global const int *link, __global const float *data, __global const float4 *matrices, __global float *out, int steps) {
  __local float4 table[32];
  int t = get_local_id(0), n = get_local_size(0), group = get_group_id(0), line = group;
  for (int k = t; k < 32; k += n)
    table[k] = matrices[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int s = 0; s < steps; s++) {
    line = link[line];
    float v = data[line * n + t];
    int which = v > 0.0f ? 16 : 0;
    float4 a[4], b[4], c[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      a[k] = table[which + k];
      b[k] = table[which + 4 * (1 + s % 3) + k] * v;
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
      c[k] = a[k].x * b[0] + a[k].y * b[1] + a[k].z * b[2] + a[k].w * b[3];
    float4 d = c[0] * a[0] + c[1] * a[1] + c[2] * a[2] + c[3] * a[3];
    sum = 0.5f * sum + (d.x + d.y + d.z + d.w);
  }
  out[group * n + t] = sum;
}
