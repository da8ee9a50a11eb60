// golden: numpy indexing
__kernel void compact(__global const int *in, __global int *parts, __global int2 *place, volatile __global int *top, int n) {
  __local int s[64];
  __local int start[1];
  int t = get_local_id(0), g = get_local_size(0), i = get_global_id(0);
  bool keep = i < n && in[i] > 20;
  s[t] = keep;
  for (int step = 1; step < g; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == g - 1) {
    start[0] = atomic_add(top, s[t]);
    place[get_group_id(0)] = (int2)(start[0], s[t]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (keep)
    parts[start[0] + s[t] - 1] = in[i];
}
__kernel void order(__global const int *parts, __global const int2 *place, __global int *counts, __global int *out) {
  int g = get_group_id(0), before = 0;
  for (int k = 0; k < g; k++)
    before += place[k].y;
  for (int i = get_local_id(0); i < place[g].y; i += get_local_size(0))
    out[before + i] = parts[place[g].x + i];
  if (get_local_id(0) == 0)
    counts[g] = place[g].y;
}
