// golden: numpy float64 with error bounds
__kernel void bilateral(__global const float *in, __global float *out, __constant float *space, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  float here = in[y * w + x], sum = 0.0f, norm = 0.0f;
  for (int i = -2; i <= 2; i++)
    for (int j = -2; j <= 2; j++) {
      float v = in[clamp(y + i, 0, h - 1) * w + clamp(x + j, 0, w - 1)];
      float d = v - here;
      float k = space[(i + 2) * 5 + j + 2] * exp(d * d * -8.0f);
      sum += k * v;
      norm += k;
    }
  out[y * w + x] = sum / norm;
}
