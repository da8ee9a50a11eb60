// golden: numpy.fft in float64
float2 times(float2 a, float2 b) {
  return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
// Transforms of 8 points, one a work-item, all in registers; a point of 4096 words apart or a transform in one piece.
__kernel void fft8(__global const float2 *in, __global float2 *out, int count, int step, int apart) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  float2 v[8];
  for (int k = 0; k < 8; k++)
    v[k] = in[i * apart + k * step];
  const float half_root = 0.70710678f;
  for (int k = 0; k < 4; k++) {
    float2 a = v[k], b = v[k + 4];
    v[k] = a + b;
    v[k + 4] = a - b;
  }
  v[5] = times(v[5], (float2)(half_root, -half_root));
  v[6] = (float2)(v[6].y, -v[6].x);
  v[7] = times(v[7], (float2)(-half_root, -half_root));
  for (int q = 0; q < 8; q += 4) {
    float2 a = v[q] + v[q + 2], b = v[q] - v[q + 2], c = v[q + 1] + v[q + 3], d = v[q + 1] - v[q + 3];
    d = (float2)(d.y, -d.x);
    v[q] = a + c;
    v[q + 1] = a - c;
    v[q + 2] = b + d;
    v[q + 3] = b - d;
  }
  for (int k = 0; k < 8; k++)
    out[i * apart + ((k & 1) << 2 | (k & 2) | k >> 2) * step] = v[k];
}
