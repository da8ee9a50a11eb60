// golden: numpy float64 with error bounds
// A row a group: its maximum, the sum of exponentials, the quotient; rows are longer than groups.
__kernel void soft_max(__global const float *in, __global float *out, int n) {
  __local float s[32];
  int t = get_local_id(0), row = get_group_id(0) * n;
  float most = -INFINITY;
  for (int k = t; k < n; k += 32)
    most = fmax(most, in[row + k]);
  s[t] = most;
  for (int half_ = 16; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_)
      s[t] = fmax(s[t], s[t + half_]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  most = s[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int k = t; k < n; k += 32) {
    float e = exp(in[row + k] - most);
    out[row + k] = e;
    sum += e;
  }
  s[t] = sum;
  for (int half_ = 16; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_)
      s[t] += s[t + half_];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float scale = 1.0f / s[0];
  for (int k = t; k < n; k += 32)
    out[row + k] *= scale;
}
