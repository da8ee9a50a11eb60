// golden: numpy integers
#define B 8
#define ID(d) get_local_id(d)
// Distances from i over k to j within tiles: first the tile on the diagonal, then its row and column, then the rest.
__kernel void pivot(__global int *d, int n, int at) {
  __local int s[B][B];
  int x = ID(0), y = ID(1), i = (at + y) * n + at + x;
  s[y][x] = d[i];
  for (int k = 0; k < B; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int through = s[y][k] + s[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
    s[y][x] = min(s[y][x], through);
  }
  d[i] = s[y][x];
}
__kernel void arms(__global int *d, int n, int at) {
  __local int p[B][B], s[B][B];
  int x = ID(0), y = ID(1), other = get_group_id(0) * B;
  bool row = get_group_id(1) == 0;
  if (other >= at)
    other += B;
  int i = row ? (at + y) * n + other + x : (other + y) * n + at + x;
  p[y][x] = d[(at + y) * n + at + x];
  s[y][x] = d[i];
  for (int k = 0; k < B; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int through = row ? p[y][k] + s[k][x] : s[y][k] + p[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
    s[y][x] = min(s[y][x], through);
  }
  d[i] = s[y][x];
}
__kernel void rest(__global int *d, int n, int at) {
  __local int row[B][B], column[B][B];
  int x = ID(0), y = ID(1), bx = get_group_id(0) * B, by = get_group_id(1) * B;
  if (bx >= at)
    bx += B;
  if (by >= at)
    by += B;
  row[y][x] = d[(at + y) * n + bx + x];
  column[y][x] = d[(by + y) * n + at + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int i = (by + y) * n + bx + x, best = d[i];
  for (int k = 0; k < B; k++)
    best = min(best, column[y][k] + row[k][x]);
  d[i] = best;
}
