// golden: numpy integers
// Spins that flip by chance, one colour of a chessboard a launch; thresholds by the sum of neighbours from a table.
__kernel void flip(__global char *spin, __global uint *seed, __constant uint *threshold, int w, int h, int colour) {
  int k = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  int x = 2 * k + ((y + colour) & 1);
  if (x >= w || y >= h)
    return;
  int left = x == 0 ? w - 1 : x - 1, right = x == w - 1 ? 0 : x + 1, above = y == 0 ? h - 1 : y - 1, below = y == h - 1 ? 0 : y + 1;
  int sum = spin[y * w + left] + spin[y * w + right] + spin[above * w + x] + spin[below * w + x];
  uint s = seed[y * w + x] * 1664525u + 1013904223u;
  seed[y * w + x] = s;
  char mine = spin[y * w + x];
  if (s < threshold[(mine * sum + 4) / 2])
    spin[y * w + x] = -mine;
}
