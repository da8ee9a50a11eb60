// golden: Python integers
__kernel void convert(__global const double *d, __global const long *l, __global long *out, __global long *wide, __global float *f, __global double *g) {
  int i = get_global_id(0);
  double v = d[i];
  float w = (float)v;
  long k = l[i];
  out[i * 6] = convert_char_sat(v);
  out[i * 6 + 1] = convert_uchar_sat_rte(v);
  out[i * 6 + 2] = convert_short_sat_rtn(v);
  out[i * 6 + 3] = convert_ushort_sat_rtp(v);
  out[i * 6 + 4] = convert_int_sat_rte(w);
  out[i * 6 + 5] = convert_uint_sat(w);
  wide[i * 5] = convert_long_sat_rtn(v);
  wide[i * 5 + 1] = convert_int_sat(k);
  wide[i * 5 + 2] = (int)k;
  wide[i * 5 + 3] = convert_uchar_sat(k);
  wide[i * 5 + 4] = (char)k;
  f[i] = (float)k;
  g[i] = (double)k;
}
