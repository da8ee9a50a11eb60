// Golden: numpy.fft in float64.
__kernel void fft(__global const float2 *in, __global float2 *out) {
  __local float2 a[256], b[256];
  int t = get_local_id(0), n = 256;
  a[t] = in[t];
  a[t + 128] = in[t + 128];
  __local float2 *from = a, *to = b;
  for (int s = 1; s < n; s *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int j = t / s * s, k = t % s;
    float angle = -M_PI_F * k / s;
    float2 w = (float2)(cos(angle), sin(angle));
    float2 u = from[t], v = from[t + 128];
    // Stockham: the twiddle belongs to the second half's input at this stage's stride.
    float2 wv = (float2)(w.x * v.x - w.y * v.y, w.x * v.y + w.y * v.x);
    to[2 * j + k] = u + wv;
    to[2 * j + k + s] = u - wv;
    __local float2 *swap = from;
    from = to;
    to = swap;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = from[t];
  out[t + 128] = from[t + 128];
}
