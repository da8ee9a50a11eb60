// golden: numpy integers
// Lines have even length; the low half goes first. Beyond a border the nearest sample of the same kind stands in.
__kernel void lift(__global const int *in, __global int *out, __local int *s, int n, int along, int across) {
  int t = get_local_id(0), half_size = n / 2, line = get_group_id(0) * across;
  s[2 * t] = in[line + 2 * t * along];
  s[2 * t + 1] = in[line + (2 * t + 1) * along];
  barrier(CLK_LOCAL_MEM_FENCE);
  int odd = s[2 * t + 1] - ((s[2 * t] + s[t + 1 < half_size ? 2 * t + 2 : 2 * t]) >> 1);
  s[2 * t + 1] = odd;
  barrier(CLK_LOCAL_MEM_FENCE);
  int even = s[2 * t] + ((s[t > 0 ? 2 * t - 1 : 1] + odd + 2) >> 2);
  out[line + t * along] = even;
  out[line + (half_size + t) * along] = odd;
}
