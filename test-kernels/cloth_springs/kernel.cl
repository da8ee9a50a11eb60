// golden: numpy float64 with error bounds
// A net of springs: forces from four neighbours, then positions from those before (Verlet); the top row is fixed.
float4 spring(float4 a, float4 b, float rest, float stiff) {
  float4 d = b - a;
  float length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  return d * (stiff * (length - rest) / length);
}
__kernel void move(__global const float4 *now, __global const float4 *before, __global float4 *after, int w, int h, float rest, float stiff, float fall) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= w || y >= h)
    return;
  int at = y * w + x;
  float4 p = now[at];
  if (y == 0) {
    after[at] = p;
    return;
  }
  float4 f = (float4)(0.0f, -fall, 0.0f, 0.0f);
  if (x > 0)
    f += spring(p, now[at - 1], rest, stiff);
  if (x < w - 1)
    f += spring(p, now[at + 1], rest, stiff);
  f += spring(p, now[at - w], rest, stiff);
  if (y < h - 1)
    f += spring(p, now[at + w], rest, stiff);
  after[at] = 2.0f * p - before[at] + f;
}
