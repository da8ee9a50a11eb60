// golden: numpy float64 with error bounds
// The mean along a path of prices: normal numbers come from memory, paths of a group add up by halves.
__kernel void paths(__global const float *normal, __global float *payoff, __local float *s, float price, float strike, float drift, float spread, int steps, int n) {
  int t = get_local_id(0), i = get_group_id(0) * get_local_size(0) + t;
  float value = price, sum = 0.0f;
  if (i < n)
    for (int k = 0; k < steps; k++) {
      value *= exp(drift + spread * normal[k * n + i]);
      sum += value;
    }
  s[t] = i < n ? fmax(sum / (float)steps - strike, 0.0f) : 0.0f;
  for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_)
      s[t] += s[t + half_];
  }
  if (t == 0)
    payoff[get_group_id(0)] = s[0];
}
