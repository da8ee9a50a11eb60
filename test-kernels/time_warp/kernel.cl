// golden: dynamic programming in Python
#define MOST 24
// The distance of a pattern to each window of a signal: a window a work-item, two rows in private memory.
__kernel void warp(__global const short *pattern, __global const short *signal, __global uint *distance, int m, int windows, int step) {
  int w = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (w >= windows)
    return;
  uint row[MOST + 1];
  for (int j = 1; j <= m; j++)
    row[j] = UINT_MAX / 2;
  row[0] = 0;
  for (int i = 0; i < m; i++) {
    uint corner = row[0];
    row[0] = UINT_MAX / 2;
    for (int j = 1; j <= m; j++) {
      uint above = row[j];
      row[j] = abs_diff((int)pattern[i], (int)signal[w * step + j - 1]) + min(corner, min(above, row[j - 1]));
      corner = above;
    }
  }
  distance[w] = row[m];
}
