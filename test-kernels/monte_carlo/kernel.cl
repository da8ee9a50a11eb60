// golden: numpy float64 with error bounds
uint step(uint x) {
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ (x << 5);
}
__kernel void price(__global uint *seeds, __global float *normals, __global float *mean, __local float *s, int draws) {
  int i = get_global_id(0), t = get_local_id(0), n = get_global_size(0);
  uint x = seeds[i];
  float sum = 0.0f;
  for (int k = 0; k < draws; k++) {
    x = step(x);
    float u = (float)((x >> 8) + 1) * 0x1p-24f;
    x = step(x);
    float v = (float)(x >> 8) * 0x1p-23f;
    float radius = sqrt(-2.0f * log(u));
    float2 z = radius * (float2)(cospi(v), sinpi(v));
    normals[2 * k * n + i] = z.x;
    normals[(2 * k + 1) * n + i] = z.y;
    sum += fmax(100.0f * exp(0.25f * z.x - 0.03125f) - 95.0f, 0.0f);
    sum += fmax(100.0f * exp(0.25f * z.y - 0.03125f) - 95.0f, 0.0f);
  }
  seeds[i] = x;
  s[t] = sum;
  for (int k = get_local_size(0) / 2; k > 0; k /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < k)
      s[t] += s[t + k];
  }
  if (t == 0)
    mean[get_group_id(0)] = s[0] / (get_local_size(0) * 2 * draws);
}
