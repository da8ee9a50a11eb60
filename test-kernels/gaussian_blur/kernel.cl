// golden: numpy float64 with error bounds
#define R 4
#define GROUP 16
// Along lines of length n: consecutive elements are `along` apart, lines `across`.
__kernel void blur(__global const float *in, __global float *out, __constant float *taps, int n, int along, int across) {
  __local float s[GROUP + 2 * R];
  int t = get_local_id(0), x = get_global_id(0), line = get_global_id(1) * across, first = get_group_id(0) * GROUP - R;
  for (int i = t; i < GROUP + 2 * R; i += GROUP) {
    int at = first + i;
    s[i] = at >= 0 && at < n ? in[line + at * along] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= n)
    return;
  float sum = 0.0f;
  for (int k = 0; k <= 2 * R; k++)
    sum += s[t + k] * taps[k];
  out[line + x * along] = sum;
}
