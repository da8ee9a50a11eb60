// golden: numpy integers
// Packed pixels of three bytes to planes of brightness and, at half the size, of colour; and back.
__kernel void planes(__global const uchar *rgb, __global uchar *luma, __global uchar *blue, __global uchar *red, int w, int h) {
  int x = 2 * (get_group_id(0) * get_local_size(0) + get_local_id(0));
  int y = 2 * (get_group_id(1) * get_local_size(1) + get_local_id(1));
  if (x >= w || y >= h)
    return;
  int3 sum = (int3)(0);
  for (int k = 0; k < 4; k++) {
    int at = (y + k / 2) * w + x + k % 2;
    int3 p = convert_int3(vload3(at, rgb));
    luma[at] = ((66 * p.x + 129 * p.y + 25 * p.z + 128) >> 8) + 16;
    sum += p;
  }
  int at = y / 2 * (w / 2) + x / 2;
  blue[at] = ((-38 * sum.x - 74 * sum.y + 112 * sum.z + 512) >> 10) + 128;
  red[at] = ((112 * sum.x - 94 * sum.y - 18 * sum.z + 512) >> 10) + 128;
}
__kernel void packed(__global const uchar *luma, __global const uchar *blue, __global const uchar *red, __global uchar *rgb, int w, int h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= w || y >= h)
    return;
  int c = 298 * (luma[y * w + x] - 16), at = y / 2 * (w / 2) + x / 2, d = blue[at] - 128, e = red[at] - 128;
  int3 p = (int3)(c + 409 * e + 128, c - 100 * d - 208 * e + 128, c + 516 * d + 128) >> 8;
  vstore3(convert_uchar3_sat(p), y * w + x, rgb);
}
