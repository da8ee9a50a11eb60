// golden: numpy cumulative sums
// Sums over all pixels above and to the left: a row a work-item, then a column a work-item; boxes from four corners.
__kernel void rows(__global const uchar *in, __global uint *sum, int w, int h) {
  int y = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (y >= h)
    return;
  uint s = 0;
  for (int x = 0; x < w; x++) {
    s += in[y * w + x];
    sum[y * w + x] = s;
  }
}
__kernel void columns(__global uint *sum, int w, int h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (x >= w)
    return;
  for (int y = 1; y < h; y++)
    sum[y * w + x] += sum[(y - 1) * w + x];
}
uint corner(__global const uint *sum, int x, int y, int w) {
  return x < 0 || y < 0 ? 0 : sum[y * w + x];
}
__kernel void boxes(__global const uint *sum, __global uchar *mean, int w, int h, int radius) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= w || y >= h)
    return;
  int x0 = max(x - radius, 0) - 1, x1 = min(x + radius, w - 1), y0 = max(y - radius, 0) - 1, y1 = min(y + radius, h - 1);
  uint s = corner(sum, x1, y1, w) - corner(sum, x0, y1, w) - corner(sum, x1, y0, w) + corner(sum, x0, y0, w);
  uint area = (x1 - x0) * (y1 - y0);
  mean[y * w + x] = (s + area / 2) / area;
}
