// golden: Python strings
#define MOST 16
// The pattern's table is made by one work-item of a group in local memory; pieces of the text overlap by the pattern.
__kernel void find(__global const uchar *pattern, __global const uchar *text, __global uchar *found, volatile __global int *count, int m, int n, int piece) {
  __local int back[MOST + 1];
  if (get_local_id(0) == 0) {
    back[0] = -1;
    for (int k = 0, j = -1; k < m;) {
      while (j >= 0 && pattern[k] != pattern[j])
        j = back[j];
      back[++k] = ++j;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int from = i * piece, to = min(from + piece + m - 1, n), j = 0, mine = 0;
  for (int k = from; k < to; k++) {
    while (j >= 0 && text[k] != pattern[j])
      j = back[j];
    if (++j == m) {
      found[k - m + 1] = 1;
      mine++;
      j = back[j];
    }
  }
  if (mine)
    atomic_add(count, mine);
}
