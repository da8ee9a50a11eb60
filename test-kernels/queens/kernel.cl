// golden: Python recursion
// The first two rows are given by the work-item.
__kernel void queens(__global int *solutions, int n) {
  int a = get_global_id(1), b = get_global_id(0), found = 0;
  uchar column[12];
  column[0] = a;
  column[1] = b;
  if (abs_diff(a, b) > 1) {
    int row = 2;
    column[2] = 0;
    while (row >= 2) {
      int c = column[row];
      bool ok = c < n;
      if (!ok) {
        row--;
        if (row >= 2)
          column[row]++;
        continue;
      }
      for (int i = 0; i < row && ok; i++)
        ok = column[i] != c && abs_diff((int)column[i], c) != row - i;
      if (ok && row + 1 < n) {
        row++;
        column[row] = 0;
      } else {
        found += ok;
        column[row]++;
      }
    }
  }
  solutions[a * n + b] = found;
}
