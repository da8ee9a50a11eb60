// Golden: numpy and math.erf in float64.
__device__ float cnd(float d) { return 0.5f + 0.5f * erff(d * 0.70710678f); }
extern "C" __global__ void black_scholes(const float *s, const float *k, const float *t, float *call, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float root = sqrtf(t[i]);
  float d1 = (logf(s[i] / k[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i]) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  call[i] = s[i] * cnd(d1) - k[i] * expf(-0.02f * t[i]) * cnd(d2);
}
