// golden: exact integers
__kernel void sums(__global int *a, int stride, int n) {
  int row = get_global_id(0) * stride;
  for (int i = 0; i + 1 < n; i++)
    a[row + i + 1] += a[row + i];
}
__kernel void recurrence(__global uint *a, int stride, int n) {
  int row = get_global_id(0) * stride;
  for (int i = 2; i < n; i++)
    a[row + i] = 3u * a[row + i - 1] - a[row + i - 2] + 5u * a[row + i];
}
// The upper byte of the word before, which the iteration before has written.
__kernel void bytes(__global uint *a, int stride, int n) {
  int row = get_global_id(0) * stride;
  __global uchar *b = (__global uchar *)a;
  for (int i = 1; i < n; i++)
    a[row + i] = a[row + i] * 0x9e3779b1u ^ b[4 * (row + i) - 1];
}
// Down the columns: the distance is known only at launch.
__kernel void columns(__global int *a, int width, int n) {
  int x = get_global_id(0);
  for (int y = 0; y + 2 < n; y++) {
    a[(y + 1) * width + x] -= a[y * width + x];
    a[(y + 2) * width + x] ^= a[y * width + x];
  }
}
