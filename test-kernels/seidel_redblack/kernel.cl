// golden: numpy float64 with error bounds
__kernel void sweep(__global float *a, int w, int h, int colour) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1, at = y * w + x;
  if (x >= w - 1 || y >= h - 1 || ((x + y) & 1) != colour)
    return;
  a[at] = (a[at - w] + a[at - 1] + a[at + 1] + a[at + w]) * 0.25f;
}
