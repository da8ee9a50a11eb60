// golden: numpy stable sort
// A work-item owns a run of consecutive keys; the table is by digit, then work-item.
__kernel void count(__global const uint2 *keys, __global uint *table, int n, int shift) {
  int t = get_global_id(0), threads = get_global_size(0), each = (n + threads - 1) / threads;
  ushort c[16];
  for (int d = 0; d < 16; d++)
    c[d] = 0;
  for (int i = t * each; i < min(n, (t + 1) * each); i++)
    c[(keys[i].x >> shift) & 15]++;
  for (int d = 0; d < 16; d++)
    table[d * threads + t] = c[d];
}
__kernel void scan(__global uint *table, int n) {
  __local uint s[64];
  int t = get_local_id(0), each = n / 64;
  uint sum = 0;
  for (int i = 0; i < each; i++)
    sum += table[t * each + i];
  s[t] = sum;
  for (int step = 1; step < 64; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  uint before = s[t] - sum;
  for (int i = 0; i < each; i++) {
    uint v = table[t * each + i];
    table[t * each + i] = before;
    before += v;
  }
}
__kernel void scatter(__global const uint2 *keys, __global uint2 *sorted, __global uint *table, int n, int shift) {
  int t = get_global_id(0), threads = get_global_size(0), each = (n + threads - 1) / threads;
  for (int i = t * each; i < min(n, (t + 1) * each); i++) {
    uint2 v = keys[i];
    sorted[table[((v.x >> shift) & 15) * threads + t]++] = v;
  }
}
