// golden: numpy's MT19937
uint next(__local const uint *s, int i) {
  uint y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
  return s[(i + 397) % 624] ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0);
}
__kernel void twister(__global uint *state, __global uint *values, int rounds) {
  __local uint s[624];
  int t = get_local_id(0), n = get_local_size(0);
  for (int i = t; i < 624; i += n)
    s[i] = state[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < rounds; r++) {
    // A word depends on the following word and the one 397 on: 227 at a time, the last one alone.
    const int bounds[5] = {0, 227, 454, 623, 624};
    for (int p = 0; p < 4; p++) {
      int i = bounds[p] + t;
      uint v = i < bounds[p + 1] ? next(s, i) : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (i < bounds[p + 1])
        s[i] = v;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = t; i < 624; i += n) {
      uint y = s[i];
      y ^= y >> 11;
      y ^= (y << 7) & 0x9d2c5680u;
      y ^= (y << 15) & 0xefc60000u;
      values[r * 624 + i] = y ^ (y >> 18);
    }
  }
  for (int i = t; i < 624; i += n)
    state[i] = s[i];
}
