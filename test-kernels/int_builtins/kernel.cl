// golden: Python integers
__kernel void narrow(__global const int *x, __global const int *y, __global int *out) {
  int i = get_global_id(0), a = x[i], b = y[i];
  uint ua = a, ub = b;
  short sa = a, sb = b;
  char ca = a, cb = b;
  uchar da = a, db = b;
  __global int *o = out + i * 20;
  o[0] = clz(a);
  o[1] = popcount(a);
  o[2] = hadd(a, b);
  o[3] = rhadd(a, b);
  o[4] = add_sat(a, b);
  o[5] = sub_sat(a, b);
  o[6] = rotate(a, b);
  o[7] = abs(a);
  o[8] = abs_diff(a, b);
  o[9] = mul_hi(a, b);
  o[10] = mul_hi(ua, ub);
  o[11] = mad24(a << 8 >> 8, b << 8 >> 8, 5);
  o[12] = mad_sat(a, b, 7);
  o[13] = upsample(add_sat(sa, sb), as_ushort(sub_sat(sa, sb)));
  o[14] = upsample(sa, as_ushort(sb));
  o[15] = add_sat(ca, cb) * 1000 + sub_sat(ca, cb);
  o[16] = sub_sat(da, db) * 256 + add_sat(da, db);
  o[17] = clz(da) + 16 * clz((ushort)ua);
  o[18] = clamp(a, -1000, 1000) + (min(a, b) >> 8) - (int)(max(ua, ub) >> 8);
  o[19] = (int)(upsample(a, ub) >> 37);
}
__kernel void wide(__global const int *x, __global const int *y, __global long *out) {
  int i = get_global_id(0);
  long p = x[i] * 0x100000001L + y[i], q = y[i] * 0x123456789L + x[i];
  __global long *o = out + i * 8;
  o[0] = hadd(p, q);
  o[1] = add_sat(p, q);
  o[2] = sub_sat(p, q);
  o[3] = rotate(p, q);
  o[4] = mul_hi(p, q);
  o[5] = clz(p) + 100 * popcount(q);
  o[6] = q != 0 ? p / q : 0;
  o[7] = (ulong)p % ((ulong)q | 1);
}
