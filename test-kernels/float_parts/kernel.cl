// golden: numpy float64; every result is exact or rounds once
__kernel void parts(__global const float *x, __global const float *y, __global float *out, __global int *exponents, __global int *quotients) {
  int i = get_global_id(0), n = get_global_size(0);
  float a = x[i], b = y[i], whole;
  int e, q;
  out[i] = fract(a, &whole);
  out[n + i] = whole;
  out[2 * n + i] = modf(a, &out[3 * n + i]);
  out[4 * n + i] = frexp(a, &e);
  out[5 * n + i] = remquo(a, b, &q);
  out[6 * n + i] = fmod(a, b);
  out[7 * n + i] = ldexp(a, 3);
  out[8 * n + i] = nextafter(a, b);
  out[9 * n + i] = rint(a);
  out[10 * n + i] = round(a);
  out[11 * n + i] = ceil(a);
  out[12 * n + i] = copysign(b, a);
  out[13 * n + i] = fdim(a, b);
  out[14 * n + i] = logb(a);
  out[15 * n + i] = fabs(a);
  exponents[i] = e * 1000 + ilogb(a);
  // Seven bits of the quotient and its sign.
  quotients[i] = q < 0 ? -(-q & 127) : q & 127;
}
