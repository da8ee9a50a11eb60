// golden: numpy integers
// Bilinear in fixed point of 8 bits, pixels of four bytes, any ratio of sizes.
__kernel void resize(__global const uchar4 *in, __global uchar4 *out, int w, int h, int to_w, int to_h) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  if (x >= to_w || y >= to_h)
    return;
  int u = max((2 * x + 1) * w * 128 / to_w - 128, 0), v = max((2 * y + 1) * h * 128 / to_h - 128, 0);
  int i = min(u >> 8, w - 1), j = min(v >> 8, h - 1), i1 = min(i + 1, w - 1), j1 = min(j + 1, h - 1);
  uint4 a = convert_uint4(in[j * w + i]), b = convert_uint4(in[j * w + i1]);
  uint4 c = convert_uint4(in[j1 * w + i]), d = convert_uint4(in[j1 * w + i1]);
  uint p = u & 255, q = v & 255;
  uint4 sum = (a * (256 - p) + b * p) * (256 - q) + (c * (256 - p) + d * p) * q;
  out[y * to_w + x] = convert_uchar4_sat((sum + 32768u) >> 16);
}
