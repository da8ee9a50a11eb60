// golden: numpy and math.erf in float64 with error bounds
// Bias and activation, four values a work-item; the kind is the launch's, not the lane's.
__kernel void activate(__global const float4 *in, __global const float4 *bias, __global float4 *out, int n, int columns, int kind) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= n)
    return;
  float4 x = in[i] + bias[i % columns];
  switch (kind) {
  case 0: x = fmax(x, 0.0f); break;
  case 1: x = 0.5f * x * (1.0f + erf(x * 0.70710678f)); break;
  case 2: x = x / (1.0f + exp(-x)); break;
  case 3: x = tanh(x); break;
  default: x = select(x * 0.125f, x, x > 0.0f); break;
  }
  out[i] = x;
}
