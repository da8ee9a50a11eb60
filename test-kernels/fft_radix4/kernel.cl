// golden: numpy.fft in float64
float2 times(float2 a, float2 b) {
  return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
// One stage of radix 4 over all transforms; input and output change places (Stockham's order).
__kernel void stage(__global const float2 *in, __global float2 *out, int n, int p) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0), quarter = n / 4;
  int which = i / quarter, t = i % quarter, k = t & (p - 1);
  in += which * n + t;
  float angle = -(float)k / (float)(2 * p);
  float2 w = (float2)(cospi(angle), sinpi(angle));
  float2 a = in[0], b = times(in[quarter], w);
  float2 w2 = times(w, w);
  float2 c = times(in[2 * quarter], w2), d = times(in[3 * quarter], times(w2, w));
  float2 e = a + c, f = a - c, g = b + d, h = (float2)(b.y - d.y, d.x - b.x);
  out += which * n + ((t - k) << 2) + k;
  out[0] = e + g;
  out[p] = f + h;
  out[2 * p] = e - g;
  out[3 * p] = f - h;
}
