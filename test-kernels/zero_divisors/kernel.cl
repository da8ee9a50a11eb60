// golden: numpy integers
// A division by zero leaves its result open and nothing else: a test behind it counts, and what depends on the result stays where
// the program says.

kernel void each(global const int *a, global const int *b, global int *out, int same) {
  size_t i = get_global_id(0);
  int x = a[i], y = b[i];
  int q = x / y, r = x % y, s = x / same;
  out[3 * i] = y == 0 ? -77 : q;
  out[3 * i + 1] = y ? r : 1000;
  out[3 * i + 2] = same == 0 ? x ^ 5 : s;
}

kernel void widths(global const int *a, global const int *b, global long *out) {
  size_t i = get_global_id(0);
  long x = a[i], y = b[i];
  ulong ux = (ulong)x * 0x123456789ul, uy = b[i] & 0xff;
  short sx = a[i], sy = b[i];
  uchar cx = a[i], cy = b[i];
  long q = (x << 20) / y;
  ulong uq = ux / uy, ur = ux % uy;
  short sq = sx / sy;
  uchar cr = cx % cy;
  out[5 * i] = y == 0 ? -1 : q;
  out[5 * i + 1] = uy == 0 ? -2 : (long)uq;
  out[5 * i + 2] = uy == 0 ? -3 : (long)ur;
  out[5 * i + 3] = sy == 0 ? -4 : sq;
  out[5 * i + 4] = cy == 0 ? -5 : cr;
}

kernel void vectors(global const int4 *a, global const int4 *b, global int4 *out) {
  size_t i = get_global_id(0);
  int4 q = a[i] / b[i];
  uint4 r = as_uint4(a[i]) % as_uint4(b[i]);
  out[i] = select(q ^ as_int4(r), (int4)(-9), b[i] == 0);
}

// The remainder is below 15 wherever it counts, and the table is not left where it does not.
kernel void looked_up(global const int *a, global const int *b, global const int *table, global int *out, int steps) {
  size_t i = get_global_id(0);
  int sum = 0;
  for (int k = 0; k < steps; k++) {
    uint d = (uint)(b[i] + k) & 15;
    uint place = (uint)(a[i] + 7 * k) % d, part = ((uint)a[i] & 0xfff) / d;
    if (place < 15 && part < 0x1000)
      sum = sum * 3 + (d == 0 ? k : table[place] + (int)part);
    else
      sum -= 1000000;
  }
  out[i] = sum;
}
