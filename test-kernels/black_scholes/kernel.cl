// Golden: numpy and math.erf in float64.
float cnd(float d) { return 0.5f + 0.5f * erf(d * M_SQRT1_2_F); }
__kernel void black_scholes(__global const float *s, __global const float *k, __global const float *t, __global float *call, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float root = sqrt(t[i]);
  float d1 = (log(s[i] / k[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i]) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  call[i] = s[i] * cnd(d1) - k[i] * exp(-0.02f * t[i]) * cnd(d2);
}
