// golden: dynamic programming in Python
// One antidiagonal a launch: cell (i, d - i) needs the two diagonals before.
extern "C" __global__ void diagonal(const unsigned char *a, const unsigned char *b, short *table, int m, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + max(1, d - n);
  if (i > min(m, d - 1))
    return;
  int j = d - i, at = i * (n + 1) + j;
  int best = max((int)table[at - 1], (int)table[at - (n + 1)]);
  if (a[i - 1] == b[j - 1])
    best = max(best, table[at - (n + 1) - 1] + 1);
  table[at] = (short)best;
}
