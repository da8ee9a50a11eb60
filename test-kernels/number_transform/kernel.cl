// golden: Python integers
#define P 998244353u
uint mul(uint a, uint b) {
  return (ulong)a * b % P;
}
uint power(uint a, uint e) {
  uint r = 1;
  for (; e; e >>= 1, a = mul(a, a))
    if (e & 1)
      r = mul(r, a);
  return r;
}
// A transform modulo a prime, a polynomial a group: bits reversed, butterflies in local memory.
__kernel void transform(__global uint *data, uint root, uint scale) {
  __local uint s[64];
  int t = get_local_id(0), n = 2 * get_local_size(0), base = get_group_id(0) * n, bits = 31 - clz(n);
  for (int k = t; k < n; k += n / 2) {
    uint v = k, reversed = 0;
    for (int i = 0; i < bits; i++, v >>= 1)
      reversed = reversed << 1 | (v & 1);
    s[reversed] = data[base + k];
  }
  for (int step = 1; step < n; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int i = t / step * 2 * step + t % step;
    uint w = power(root, (t % step) * (n / 2 / step));
    uint a = s[i], b = mul(s[i + step], w);
    s[i] = a + b >= P ? a + b - P : a + b;
    s[i + step] = a >= b ? a - b : a + P - b;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  data[base + t] = mul(s[t], scale);
  data[base + t + n / 2] = mul(s[t + n / 2], scale);
}
__kernel void products(__global uint *a, __global const uint *b) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  a[i] = mul(a[i], b[i]);
}
