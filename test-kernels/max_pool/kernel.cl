// golden: numpy maximum
// The largest of windows of 3 x 3 that overlap by one, and where it stands; back: each input gathers from the windows it won.
__kernel void pool(__global const float *in, __global float *out, __global int *where, int w, int h, int to_w, int to_h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  int plane = get_group_id(2);
  if (x >= to_w || y >= to_h)
    return;
  float best = -INFINITY;
  int at = -1;
  for (int j = 2 * y; j < min(2 * y + 3, h); j++)
    for (int i = 2 * x; i < min(2 * x + 3, w); i++) {
      float v = in[(plane * h + j) * w + i];
      if (v > best) {
        best = v;
        at = j * w + i;
      }
    }
  int to = (plane * to_h + y) * to_w + x;
  out[to] = best;
  where[to] = at;
}
__kernel void back(__global const int *grad, __global const int *where, __global int *to, int w, int h, int to_w, int to_h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  int plane = get_group_id(2);
  if (x >= w || y >= h)
    return;
  int sum = 0;
  for (int j = max((y - 1) / 2, 0); j <= min(y / 2, to_h - 1); j++)
    for (int i = max((x - 1) / 2, 0); i <= min(x / 2, to_w - 1); i++) {
      int from = (plane * to_h + j) * to_w + i;
      if (where[from] == y * w + x)
        sum += grad[from];
    }
  to[(plane * h + y) * w + x] = sum;
}
