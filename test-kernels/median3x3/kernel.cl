// golden: numpy median
#define SORT(a, b) { uchar4 t = min(a, b); b = max(a, b); a = t; }
__kernel void median(__global const uchar4 *in, __global uchar4 *out, int w, int h) {
  __local uchar4 s[6][12];
  int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
  int x0 = get_group_id(0) * 10 - 1, y0 = get_group_id(1) * 4 - 1;
  for (int i = ly * 10 + lx; i < 72; i += 40)
    s[i / 12][i % 12] = in[clamp(y0 + i / 12, 0, h - 1) * w + clamp(x0 + i % 12, 0, w - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= w || y >= h)
    return;
  uchar4 a = s[ly][lx], b = s[ly][lx + 1], c = s[ly][lx + 2], d = s[ly + 1][lx], e = s[ly + 1][lx + 1], f = s[ly + 1][lx + 2];
  uchar4 g = s[ly + 2][lx], i = s[ly + 2][lx + 1], j = s[ly + 2][lx + 2];
  SORT(b, c) SORT(e, f) SORT(i, j) SORT(a, b) SORT(d, e) SORT(g, i) SORT(b, c) SORT(e, f) SORT(i, j)
  d = max(a, d);
  f = min(f, j);
  SORT(e, i)
  g = max(d, g);
  e = max(b, e);
  c = min(c, f);
  e = min(e, i);
  SORT(e, c)
  e = max(g, e);
  out[y * w + x] = min(e, c);
}
