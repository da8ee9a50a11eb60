// golden: numpy integers
short8 row(__global const uchar *in, int y, int x, int w) {
  uchar4 m = vload4(0, in + y * w + x);
  return (short8)(in[y * w + max(x - 1, 0)], convert_short4(m), in[y * w + min(x + 4, w - 1)], 0, 0);
}
__kernel void sobel(__global const uchar *in, __global uchar *magnitude, __global char *direction, int w, int h) {
  int x = get_global_id(0) * 4, y = get_global_id(1);
  short8 a = row(in, max(y - 1, 0), x, w), b = row(in, y, x, w), c = row(in, min(y + 1, h - 1), x, w);
  short8 across = a + b * (short)2 + c, down = c - a;
  short4 gx = across.s2345 - across.s0123;
  short4 gy = down.s0123 + down.s1234 * (short)2 + down.s2345;
  ushort4 ax = abs(gx), ay = abs(gy);
  vstore4(convert_uchar4_sat(ax + ay), 0, magnitude + y * w + x);
  short4 d = ((gx < (short)0) & (short)4) | ((gy < (short)0) & (short)2) | ((short4)(ay > ax) & (short)1);
  vstore4(convert_char4(d), 0, direction + y * w + x);
}
