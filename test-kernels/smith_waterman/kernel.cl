// golden: dynamic programming in Python
#define MOST 40
// A pair of sequences a group, a letter of the query a work-item; diagonals pass through local memory. Gaps open dearer than they go on.
__kernel void align(__global const uchar *queries, __global const uchar *targets, __global const int *lengths, __global int *score, int m, int n, int open, int extend) {
  __local int h[3][MOST + 1], e[2][MOST + 1], f[2][MOST + 1], best[MOST];
  int t = get_local_id(0), pair = get_group_id(0), length = lengths[pair];
  for (int k = 0; k < 3; k++)
    h[k][t] = h[k][t + 1] = 0;
  for (int k = 0; k < 2; k++)
    e[k][t] = e[k][t + 1] = f[k][t] = f[k][t + 1] = -10000;
  int most = 0;
  uchar mine = queries[pair * m + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 0; d < m + length - 1; d++) {
    int j = d - t, now = d % 3, last = (d + 2) % 3, older = (d + 1) % 3;
    int value = 0, across = -10000, down = -10000;
    bool inside = j >= 0 && j < length;
    if (inside) {
      across = max(j > 0 ? e[~d & 1][t + 1] - extend : -10000, (j > 0 ? h[last][t + 1] : 0) - open);
      down = max(f[~d & 1][t] - extend, h[last][t] - open);
      int corner = j > 0 ? h[older][t] : 0;
      value = max(max(0, corner + (mine == targets[pair * n + j] ? 3 : -2)), max(across, down));
      most = max(most, value);
    }
    h[now][t + 1] = value;
    e[d & 1][t + 1] = across;
    f[d & 1][t + 1] = inside ? down : -10000;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  best[t] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    for (int k = 1; k < m; k++)
      most = max(most, best[k]);
    score[pair] = most;
  }
}
