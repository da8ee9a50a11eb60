// golden: numpy integers
#define ANGLES 24
// Each point votes for the lines through it: an angle a work-item in a group, votes of an angle in local memory.
__kernel void vote(__global const short2 *points, __constant short2 *direction, __global uint *votes, int count, int distances) {
  volatile __local uint s[160];
  int angle = get_group_id(0), t = get_local_id(0), n = get_local_size(0);
  for (int k = t; k < distances; k += n)
    s[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  short2 d = direction[angle];
  for (int k = t; k < count; k += n) {
    short2 p = points[k];
    int at = ((p.x * d.x + p.y * d.y) >> 10) + distances / 2;
    if (at >= 0 && at < distances)
      atomic_inc(&s[at]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = t; k < distances; k += n)
    votes[angle * distances + k] = s[k];
}
__kernel void best(__global const uint *votes, volatile __global ulong *top, int count) {
  int i = get_global_id(0);
  if (i < count)
    atom_max(top, (ulong)votes[i] << 32 | (uint)i);
}
