// golden: numpy stable sort
#define TILE 32
// Each key counts the keys before it: all pairs, keys by tiles in local memory.
__kernel void rank(__global const float *keys, __global float *sorted, __global int *order, int n) {
  __local float s[TILE];
  int t = get_local_id(0), i = get_group_id(0) * TILE + t, place = 0;
  float mine = i < n ? keys[i] : 0.0f;
  for (int first = 0; first < n; first += TILE) {
    s[t] = first + t < n ? keys[first + t] : INFINITY;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++)
      place += s[k] < mine || (s[k] == mine && first + k < i);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) {
    sorted[place] = mine;
    order[place] = i;
  }
}
