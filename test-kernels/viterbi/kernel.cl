// golden: dynamic programming in Python
#define STATES 12
// A sequence a group, a state a work-item; where a state came from is kept and followed back.
__kernel void decode(__constant short *enter, __constant short *emit, __global const uchar *seen, __global uchar *from, __global uchar *path, __global int *score, int length, int symbols) {
  __local int s[2][STATES];
  int t = get_local_id(0), g = get_group_id(0);
  s[0][t] = emit[t * symbols + seen[g * length]];
  for (int k = 1; k < length; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int best = INT_MIN, which = 0;
    for (int u = 0; u < STATES; u++) {
      int v = s[~k & 1][u] + enter[u * STATES + t];
      if (v > best) {
        best = v;
        which = u;
      }
    }
    s[k & 1][t] = best + emit[t * symbols + seen[g * length + k]];
    from[(g * length + k) * STATES + t] = which;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (t == 0) {
    int last = (length - 1) & 1, at = 0;
    for (int u = 1; u < STATES; u++)
      if (s[last][u] > s[last][at])
        at = u;
    score[g] = s[last][at];
    for (int k = length - 1; k > 0; k--) {
      path[g * length + k] = at;
      at = from[(g * length + k) * STATES + at];
    }
    path[g * length] = at;
  }
}
