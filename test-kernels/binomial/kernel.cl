// golden: numpy float64 with error bounds
__kernel void american_put(__global const float *s, __global const float *k, __global const float *up, __global float *price, __local float *v, int steps,
                           float p, float discount) {
  int g = get_group_id(0), t = get_local_id(0);
  float strike = k[g], spot = s[g], rise = up[g];
  v[t] = fmax(strike - spot * exp(rise * (2 * t - steps)), 0.0f);
  for (int level = steps - 1; level >= 0; level--) {
    barrier(CLK_LOCAL_MEM_FENCE);
    float hold = 0.0f;
    if (t <= level)
      hold = fmax((v[t + 1] * p + v[t] * (1.0f - p)) * discount, strike - spot * exp(rise * (2 * t - level)));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t <= level)
      v[t] = hold;
  }
  if (t == 0)
    price[g] = v[0];
}
