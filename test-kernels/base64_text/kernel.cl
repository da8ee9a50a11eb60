// golden: Python's base64
__constant uchar letters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Three bytes become four letters; the last may stand for fewer.
__kernel void encode(__global const uchar *in, __global uchar4 *out, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0), left = n - 3 * i;
  if (left <= 0)
    return;
  uint b = in[3 * i] << 16 | (left > 1 ? in[3 * i + 1] << 8 : 0) | (left > 2 ? in[3 * i + 2] : 0);
  uchar4 v = (uchar4)(letters[b >> 18], letters[b >> 12 & 63], left > 1 ? letters[b >> 6 & 63] : '=', left > 2 ? letters[b & 63] : '=');
  out[i] = v;
}
uint value(uchar c) {
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : 0;
}
__kernel void decode(__global const uchar4 *in, __global uchar *out, int quads, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= quads)
    return;
  uchar4 c = in[i];
  uint b = value(c.x) << 18 | value(c.y) << 12 | value(c.z) << 6 | value(c.w);
  for (int k = 0; k < 3 && 3 * i + k < n; k++)
    out[3 * i + k] = b >> (16 - 8 * k);
}
