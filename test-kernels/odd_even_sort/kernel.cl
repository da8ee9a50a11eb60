// golden: numpy sort
// Rows of keys in local memory, neighbours change places in turn until no pair does.
__kernel void sort(__global ushort *keys, __global int *rounds, int n) {
  __local ushort s[64];
  __local int changed;
  int t = get_local_id(0), base = get_group_id(0) * n, round = 0;
  s[2 * t] = keys[base + 2 * t];
  if (2 * t + 1 < n)
    s[2 * t + 1] = keys[base + 2 * t + 1];
  for (bool again = true; again; round++) {
    if (t == 0)
      changed = 0;
    for (int odd = 0; odd < 2; odd++) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int i = 2 * t + odd;
      if (i + 1 < n && s[i] > s[i + 1]) {
        ushort v = s[i];
        s[i] = s[i + 1];
        s[i + 1] = v;
        atomic_or(&changed, 1);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    again = changed;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  keys[base + 2 * t] = s[2 * t];
  if (2 * t + 1 < n)
    keys[base + 2 * t + 1] = s[2 * t + 1];
  if (t == 0)
    rounds[get_group_id(0)] = round;
}
