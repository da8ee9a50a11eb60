// golden: dynamic programming in Python
// One antidiagonal a launch: cell (i, d - i) needs the two diagonals before.
__kernel void diagonal(__global const uchar *a, __global const uchar *b, __global short *table, int m, int n, int d) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0) + max(1, d - n);
  if (i > min(m, d - 1))
    return;
  int j = d - i, at = i * (n + 1) + j;
  short best = max(table[at - 1], table[at - (n + 1)]);
  if (a[i - 1] == b[j - 1])
    best = max(best, (short)(table[at - (n + 1) - 1] + 1));
  table[at] = best;
}
