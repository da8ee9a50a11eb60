// Math functions in place of libclc's where those are not accurate enough (docs/ULP.md): exp, exp2 and erfc of floats flush denormal results, tgamma is the
// exponential of lgamma and as far off as its argument is large.

#define EACH(NAME, T) \
  OVERLOAD T##2 NAME(T##2 x) { return (T##2)(NAME(x.s0), NAME(x.s1)); } \
  OVERLOAD T##3 NAME(T##3 x) { return (T##3)(NAME(x.s0), NAME(x.s1), NAME(x.s2)); } \
  OVERLOAD T##4 NAME(T##4 x) { return (T##4)(NAME(x.lo), NAME(x.hi)); } \
  OVERLOAD T##8 NAME(T##8 x) { return (T##8)(NAME(x.lo), NAME(x.hi)); } \
  OVERLOAD T##16 NAME(T##16 x) { return (T##16)(NAME(x.lo), NAME(x.hi)); }

// Definitions hide clang's own declarations.
OVERLOAD double exp(double x);
OVERLOAD double erfc(double x);

// 2^k e^r for |r| <= ln(2)/2: e^r by its Taylor polynomial, whose rest is below 2^-27.
static float scaled_exp(float r, int k) {
  float p = fma(r, 0x1.a01a02p-13f, 0x1.6c16c2p-10f);
  p = fma(r, p, 0x1.111112p-7f);
  p = fma(r, p, 0x1.555556p-5f);
  p = fma(r, p, 0x1.555556p-3f);
  p = fma(r, p, 0.5f);
  p = fma(r, p, 1.0f);
  return __builtin_ldexpf(fma(r, p, 1.0f), k);
}

// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits; NaN stays NaN.
#define SHIFTER 0x1.8p23f

OVERLOAD float exp(float x) {
  float c = x > 130.0f ? 130.0f : x;
  c = c < -130.0f ? -130.0f : c;
  float t = fma(c, M_LOG2E_F, SHIFTER), k = t - SHIFTER;
  // ln 2 in two parts (Cody and Waite).
  float r = fma(k, -0x1.62e4p-1f, c);
  r = fma(k, -0x1.7f7d1cp-20f, r);
  return scaled_exp(r, as_int(t) - as_int(SHIFTER));
}
EACH(exp, float)

OVERLOAD float exp2(float x) {
  float c = x > 200.0f ? 200.0f : x;
  c = c < -200.0f ? -200.0f : c;
  float t = c + SHIFTER, k = t - SHIFTER;
  return scaled_exp((c - k) * M_LN2_F, as_int(t) - as_int(SHIFTER));
}
EACH(exp2, float)

OVERLOAD float erfc(float x) { return (float)erfc((double)x); }
EACH(erfc, float)

// 1/gamma(1.5 + s) for |s| <= 1/2: Chebyshev approximation, error below 2^-70 before rounding.
static double reciprocal_gamma(double s) {
  double p = fma(s, 7.446708085346333e-11, -2.7742348013580895e-10);
  p = fma(s, p, -9.313037879135035e-10);
  p = fma(s, p, 1.7108134461096622e-08);
  p = fma(s, p, -8.913552941716887e-08);
  p = fma(s, p, 5.7941368025281744e-08);
  p = fma(s, p, 2.156203293524251e-06);
  p = fma(s, p, -1.3896805511420642e-05);
  p = fma(s, p, 2.535520492351562e-05);
  p = fma(s, p, 0.0001523576207472143);
  p = fma(s, p, -0.0011107302545948735);
  p = fma(s, p, 0.0021207314425741065);
  p = fma(s, p, 0.006612897826824127);
  p = fma(s, p, -0.04215516936853564);
  p = fma(s, p, 0.050966860247706074);
  p = fma(s, p, 0.17510202604393457);
  p = fma(s, p, -0.5266544355255445);
  p = fma(s, p, -0.0411745264452831);
  return fma(s, p, 1.1283791670955126);
}

// gamma(a) = first * second for a > 0. Below 12 by the recurrence, whose subtractions are exact; from there on by Stirling's series, where the power is
// taken in two halves: neither overflows, and their exponent a/2 - 1/4 is exact.
static void gamma_factors(double a, double *first, double *second) {
  if (a < 12.0) {
    double product = 1.0;
    for (; a >= 2.0; product *= a)
      a -= 1.0;
    bool low = a < 1.0;
    double g = 1.0 / reciprocal_gamma(low ? a - 0.5 : a - 1.5);
    *first = low ? g / a : g;
    *second = product;
    return;
  }
  a = a > 200.0 ? 200.0 : a;
  double v = 1.0 / a, w = v * v;
  double m = fma(w, 1.0 / 156, -691.0 / 360360);
  m = fma(w, m, 1.0 / 1188);
  m = fma(w, m, -1.0 / 1680);
  m = fma(w, m, 1.0 / 1260);
  m = fma(w, m, -1.0 / 360);
  m = v * fma(w, m, 1.0 / 12);
  // e^m for m < 1/144.
  double e = fma(m, 1.0 / 720, 1.0 / 120);
  e = fma(m, e, 1.0 / 24);
  e = fma(m, e, 1.0 / 6);
  e = fma(m, e, 0.5);
  e = m * fma(m, e, 1.0);
  double half_power = pow(a, 0.5 * a - 0.25), scale = 0x1.40d931ff62706p+1 * exp(-a);
  *first = half_power;
  *second = half_power * fma(scale, e, scale);
}

OVERLOAD double tgamma(double x) {
  if (x > -1.0 && x < 0.0)
    return 1.0 / reciprocal_gamma(x + 0.5) / (1.0 + x) / x;
  double first, second;
  gamma_factors(fabs(x), &first, &second);
  if (x < 0.0) {
    // Reflection. The poles, and -infinity, are not numbers.
    double r = -M_PI / (x * sinpi(x)) / first / second;
    return x == floor(x) ? NAN : r;
  }
  return x != x ? x : copysign(first * second, x);
}
EACH(tgamma, double)

OVERLOAD float tgamma(float x) { return (float)tgamma((double)x); }
EACH(tgamma, float)
