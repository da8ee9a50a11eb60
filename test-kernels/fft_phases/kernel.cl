// golden: numpy float64 with error bounds
// cos(pi k / 8), sin(pi k / 8)
__constant float2 turns[8] = {{1.0f, 0.0f}, {0.92387953f, 0.38268343f}, {0.70710678f, 0.70710678f}, {0.38268343f, 0.92387953f},
                              {0.0f, 1.0f}, {-0.38268343f, 0.92387953f}, {-0.70710678f, 0.70710678f}, {-0.92387953f, 0.38268343f}};
// A walk along linked lines: few registers while loads are under way, then for a moment 16 complex numbers that are transformed.
__kernel void walk(__global const int *link, __global const float *data, __global const float2 *window, __global float *out, int steps) {
  __local float2 s[64];
  int t = get_local_id(0), n = get_local_size(0), group = get_group_id(0), line = group;
  for (int k = t; k < 64; k += n)
    s[k] = window[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int step = 0; step < steps; step++) {
    line = link[line];
    float v = data[line * n + t];
    float2 x[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
      x[k] = s[(t & 3) * 16 + k] * v;
    // Decimation in frequency: results in bit-reversed order, which a sum of squares with weights by place does not mind.
#pragma unroll
    for (int half_ = 8; half_ > 0; half_ /= 2)
#pragma unroll
      for (int k = 0; k < 8; k++) {
        int i = k / half_ * 2 * half_ + k % half_;
        float2 a = x[i], b = x[i + half_], d = a - b, w = turns[k % half_ * (8 / half_)];
        x[i] = a + b;
        x[i + half_] = (float2)(d.x * w.x + d.y * w.y, d.y * w.x - d.x * w.y);
      }
    float power = 0.0f;
#pragma unroll
    for (int k = 0; k < 16; k++)
      power += (x[k].x * x[k].x + x[k].y * x[k].y) * (float)(k + 1);
    sum = 0.5f * sum + power;
  }
  out[group * n + t] = sum;
}
