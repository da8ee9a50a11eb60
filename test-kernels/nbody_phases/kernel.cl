// golden: numpy float64 with error bounds
#define TILE 8
// A walk along linked lines: few registers while loads are under way, then for a moment a tile of bodies.
__kernel void walk(__global const int *link, __global const float2 *data, __global const float4 *bodies, __global float4 *out, int steps, float soft) {
  __local float4 s[4 * TILE];
  int t = get_local_id(0), n = get_local_size(0), group = get_group_id(0), line = group;
  for (int k = t; k < 4 * TILE; k += n)
    s[k] = bodies[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  float x = 0.0f, y = 0.0f, z = 0.0f;
  for (int step = 0; step < steps; step++) {
    line = link[line];
    float2 v = data[line * n + t];
    int first = step % 4 * TILE;
    float4 b[TILE];
#pragma unroll
    for (int k = 0; k < TILE; k++)
      b[k] = s[first + k];
#pragma unroll
    for (int k = 0; k < TILE; k++) {
      float dx = b[k].x - v.x, dy = b[k].y - v.y, dz = b[k].z - x;
      float r = rsqrt(dx * dx + dy * dy + dz * dz + soft), f = b[k].w * r * r * r;
      b[k] = (float4)(dx * f, dy * f, dz * f, f);
    }
    float4 a = (b[0] + b[1]) + (b[2] + b[3]) + ((b[4] + b[5]) + (b[6] + b[7]));
    x = 0.25f * x + a.x;
    y = 0.25f * y + a.y;
    z = 0.25f * z + a.z;
  }
  out[group * n + t] = (float4)(x, y, z, 0.0f);
}
