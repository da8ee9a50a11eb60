// golden: numpy integers
// Projections of a volume along each axis, with tests in the loop that are the same for all lanes, or not.
__kernel void project(__global const int *in, __global int *sum, __global int *most, __constant int *use, int width, int height,
                      int depth, int axis, int limit) {
  const int i = get_global_id(0), j = get_global_id(1);
  const int columns = axis == 0 ? height : width, rows = axis == 2 ? height : depth;
  const int length = axis == 0 ? width : axis == 1 ? height : depth;
  if (i >= columns || j >= rows)
    return;
  int total = 0, best = -1, where = -1;
  for (int k = 0; k < length; k++) {
    const int x = axis == 0 ? k : i, y = axis == 1 ? k : axis == 0 ? i : j, z = axis == 2 ? k : j;
    if (k >= 0 && k < limit)
      total += in[(z * height + y) * width + x] * use[k];
    if (use[k] > 1) {
      const int v = in[(z * height + y) * width + x];
      if (v > best) {
        best = v;
        where = k;
      }
    }
  }
  sum[j * columns + i] = total;
  most[j * columns + i] = where;
}
