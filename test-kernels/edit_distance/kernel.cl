// golden: dynamic programming in Python
__kernel void edit(__global const uchar *pattern, __global const uchar *text, __global const int *starts, __global int *distance, int length) {
  __local ulong masks[4];
  int t = get_local_id(0), i = get_global_id(0);
  if (t < 4) {
    ulong m = 0;
    for (int k = 0; k < length; k++)
      m |= (ulong)(pattern[k] == t) << k;
    masks[t] = m;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  ulong up = ~0UL, down = 0, last = 1UL << (length - 1);
  int score = length;
  for (int k = starts[i]; k < starts[i + 1]; k++) {
    ulong eq = masks[text[k]], v = eq | down;
    eq |= ((eq & up) + up) ^ up; // the horizontal runs
    ulong rise = down | ~(eq | up), fall = up & eq;
    score += (rise & last) != 0;
    score -= (fall & last) != 0;
    rise = rise << 1 | 1; // the first row rises by one a column
    fall <<= 1;
    up = fall | ~(v | rise);
    down = rise & v;
  }
  distance[i] = score;
}
