// Golden: numpy int64, clipped.
__kernel void sharpen(__global const uchar4 *in, __global uchar4 *out, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  int up = max(y - 1, 0), down = min(y + 1, h - 1), left = max(x - 1, 0), right = min(x + 1, w - 1);
  int4 v = 5 * convert_int4(in[y * w + x]) - convert_int4(in[up * w + x]) - convert_int4(in[down * w + x]) -
           convert_int4(in[y * w + left]) - convert_int4(in[y * w + right]);
  uchar4 r = convert_uchar4_sat(v);
  r.w = in[y * w + x].w;
  out[y * w + x] = r;
}
__kernel void saturate(__global const char16 *in, __global char16 *out, int n) {
  int i = get_global_id(0);
  out[i] = add_sat(in[i], in[n - 1 - i]);
}
