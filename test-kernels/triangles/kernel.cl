// golden: Python sets
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
// Each triangle is counted at its least vertex.
__kernel void count(__global const int *rows, __global const int *columns, __global int *per, volatile __global long *total, int n) {
  int a = get_global_id(0), found = 0;
  if (a >= n)
    return;
  for (int k = rows[a]; k < rows[a + 1]; k++) {
    int b = columns[k];
    if (b < a)
      continue;
    int i = k + 1, j = rows[b];
    while (i < rows[a + 1] && j < rows[b + 1]) {
      int x = columns[i], y = columns[j];
      if (x == y)
        found += x > b;
      i += x <= y;
      j += y <= x;
    }
  }
  per[a] = found;
  if (found)
    atom_add(total, (long)found << 30);
}
