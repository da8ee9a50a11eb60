// golden: numpy float64 with error bounds
// Bodies by tiles in local memory; each work-item moves its own in the end.
__kernel void advance(__global const float4 *bodies, __global float4 *moved, __global float4 *speeds, __local float4 *tile, float dt, float soft, int n) {
  int t = get_local_id(0), size = get_local_size(0), i = get_group_id(0) * size + t;
  float4 mine = i < n ? bodies[i] : (float4)(0.0f);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += size) {
    tile[t] = first + t < n ? bodies[first + t] : (float4)(0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; k++) {
      float4 other = tile[k];
      float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
      float inverse = rsqrt(dx * dx + dy * dy + dz * dz + soft), f = other.w * inverse * inverse * inverse;
      ax += dx * f;
      ay += dy * f;
      az += dz * f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) {
    float4 v = speeds[i] + (float4)(ax, ay, az, 0.0f) * dt;
    speeds[i] = v;
    moved[i] = mine + v * dt;
  }
}
