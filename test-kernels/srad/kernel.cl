// golden: numpy float64 with error bounds
typedef struct { float n, s, w, e; } Differences;
Differences differences(__global const float *j, int x, int y, int w, int h) {
  float here = j[y * w + x];
  Differences d;
  d.n = j[max(y - 1, 0) * w + x] - here;
  d.s = j[min(y + 1, h - 1) * w + x] - here;
  d.w = j[y * w + max(x - 1, 0)] - here;
  d.e = j[y * w + min(x + 1, w - 1)] - here;
  return d;
}
__kernel void coefficients(__global const float *j, __global float *c, int w, int h, float q0, float scale) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  float here = j[y * w + x];
  Differences d = differences(j, x, y, w, h);
  float g2 = (d.n * d.n + d.s * d.s + d.w * d.w + d.e * d.e) / (here * here);
  float l = (d.n + d.s + d.w + d.e) / here;
  float den = 1.0f + 0.25f * l;
  float q = (0.5f * g2 - 0.0625f * (l * l)) / (den * den);
  c[y * w + x] = clamp(1.0f / (1.0f + (q - q0) / scale), 0.0f, 1.0f);
}
__kernel void update(__global const float *j, __global const float *c, __global float *next, int w, int h, float lambda) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  Differences d = differences(j, x, y, w, h);
  float here = c[y * w + x], south = c[min(y + 1, h - 1) * w + x], east = c[y * w + min(x + 1, w - 1)];
  next[y * w + x] = j[y * w + x] + lambda * (here * d.n + south * d.s + here * d.w + east * d.e);
}
__kernel void copy(__global const float *from, __global float *to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}
