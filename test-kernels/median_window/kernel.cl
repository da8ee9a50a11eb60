// golden: numpy median
#define R 2
// The median of 5 x 5 by counting: a histogram of the upper half byte, then of the lower within it, in private memory.
__kernel void median(__global const uchar *in, __global uchar *out, int w, int h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= w || y >= h)
    return;
  uchar high[16] = {0}, low[16] = {0};
  for (int j = -R; j <= R; j++)
    for (int i = -R; i <= R; i++)
      high[in[clamp(y + j, 0, h - 1) * w + clamp(x + i, 0, w - 1)] >> 4]++;
  int left = (2 * R + 1) * (2 * R + 1) / 2, top = 0;
  while (left >= high[top])
    left -= high[top++];
  for (int j = -R; j <= R; j++)
    for (int i = -R; i <= R; i++) {
      uchar v = in[clamp(y + j, 0, h - 1) * w + clamp(x + i, 0, w - 1)];
      if (v >> 4 == top)
        low[v & 15]++;
    }
  int bottom = 0;
  while (left >= low[bottom])
    left -= low[bottom++];
  out[y * w + x] = top << 4 | bottom;
}
