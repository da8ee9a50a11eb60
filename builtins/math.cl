// Math functions in place of libclc's where those are not accurate enough (docs/ULP.md): exp, exp2 and erfc of floats flush denormal results, tgamma is the
// exponential of lgamma and as far off as its argument is large; and where they take more instructions than they have to: logarithms, pow, powr and tanh of
// floats.

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

// x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), and the logarithm of 1 + f is f + rest. The polynomial is the best of its degree for the relative
// error of the logarithm, 2^-27. libclc divides, and loads from three tables at places that data say.
typedef struct { float k, f, rest; } LogarithmParts;
static LogarithmParts logarithm(float x) {
  bool denormal = x < 0x1p-126f;
  int bits = as_int(denormal ? x * 0x1p23f : x) - 0x3f3504f3;
  float f = as_float((bits & 0x7fffff) + 0x3f3504f3) - 1.0f, square = f * f;
  float p = fma(f, -0x1.38b576p-4f, 0x1.055b68p-3f);
  p = fma(f, p, -0x1.0d8542p-3f);
  p = fma(f, p, 0x1.22da1ep-3f);
  p = fma(f, p, -0x1.547244p-3f);
  p = fma(f, p, 0x1.99a008p-3f);
  p = fma(f, p, -0x1.000226p-2f);
  p = fma(f, p, 0x1.555554p-2f);
  LogarithmParts parts = {(float)((bits >> 23) - (denormal ? 23 : 0)), f, fma(f * square, p, -0.5f * square)};
  return parts;
}
// Of zeros, numbers below, infinity and NaN.
static float logarithm_of(float x, float result) {
  result = x < INFINITY ? result : x;
  result = x < 0.0f ? as_float(0x7fc00000) : result;
  return x == 0.0f ? -INFINITY : result;
}
// x^y for x above 0, both finite, as 2^(y log2 x), whose exponent has two parts: the logarithm's error is 2^-29 of it, which the largest exponent, 128,
// makes 4 ulp. Everything else is left to libclc.
float libclc_pow_f(float x, float y);
float libclc_powr_f(float x, float y);
static bool has_ordinary_power(float x, float y) { return as_uint(x) - 1u < 0x7f7fffffu && __builtin_fabsf(y) < INFINITY; }
static float ordinary_power(float x, float y) {
  bool denormal = x < 0x1p-126f;
  int bits = as_int(denormal ? x * 0x1p23f : x) - 0x3f3504f3;
  float k = (float)((bits >> 23) - (denormal ? 23 : 0));
  float f = as_float((bits & 0x7fffff) + 0x3f3504f3) - 1.0f, square = f * f;
  float p = fma(f, 0x1.1484e6p-4f, -0x1.de1008p-4f);
  p = fma(f, p, 0x1.e6c040p-4f);
  p = fma(f, p, -0x1.fc26acp-4f);
  p = fma(f, p, 0x1.233b78p-3f);
  p = fma(f, p, -0x1.555c4ep-3f);
  p = fma(f, p, 0x1.99a478p-3f);
  p = fma(f, p, -0x1.000006p-2f);
  p = fma(f, p, 0x1.555548p-2f);
  // The logarithm of 1 + f, high + low, to the base e, then to the base 2.
  float half_square = -0.5f * square, difference = f + half_square;
  float others = fma(f * square, p, fma(-0.5f * f, f, -half_square)) + ((f - difference) + half_square);
  float high = difference + others, low = (difference - high) + others;
  float t = high * 0x1.715476p+0f;
  float rest = fma(low, 0x1.715476p+0f, fma(high, 0x1.4ae0c0p-26f, fma(high, 0x1.715476p+0f, -t)));
  float whole = k + t;
  rest += (k - whole) + t;
  float e = y * whole;
  float e_rest = fma(y, rest, fma(y, whole, -e));
  float c = __builtin_fminf(__builtin_fmaxf(e, -200.0f), 200.0f);
  e_rest = c == e ? e_rest : 0.0f;
  float shifted = c + SHIFTER, n = shifted - SHIFTER;
  return scaled_exp(((c - n) + e_rest) * M_LN2_F, as_int(shifted) - as_int(SHIFTER));
}
// Not inlined at first: `pow` itself (powers.cl) has to be, for only then is it known whether the exponent is a constant.
__attribute__((noinline, const)) float __heddle_pow(float x, float y) { return has_ordinary_power(x, y) ? ordinary_power(x, y) : libclc_pow_f(x, y); }
OVERLOAD float powr(float x, float y) { return has_ordinary_power(x, y) ? ordinary_power(x, y) : libclc_powr_f(x, y); }
OVERLOAD float2 powr(float2 x, float2 y) { return (float2)(powr(x.s0, y.s0), powr(x.s1, y.s1)); }
OVERLOAD float3 powr(float3 x, float3 y) { return (float3)(powr(x.s0, y.s0), powr(x.s1, y.s1), powr(x.s2, y.s2)); }
OVERLOAD float4 powr(float4 x, float4 y) { return (float4)(powr(x.lo, y.lo), powr(x.hi, y.hi)); }
OVERLOAD float8 powr(float8 x, float8 y) { return (float8)(powr(x.lo, y.lo), powr(x.hi, y.hi)); }
OVERLOAD float16 powr(float16 x, float16 y) { return (float16)(powr(x.lo, y.lo), powr(x.hi, y.hi)); }

// Up to .55 by the polynomial of least relative error, 2^-29; beyond it by the exponential function.
OVERLOAD float tanh(float x) {
  float distance = __builtin_fabsf(x), square = x * x;
  float p = fma(square, -0x1.9454f0p-8f, 0x1.5811f6p-6f);
  p = fma(square, p, -0x1.b905c4p-5f);
  p = fma(square, p, 0x1.110c5ep-3f);
  p = fma(square, p, -0x1.555548p-2f);
  float small = fma(distance * square, p, distance);
  float large = fma(-2.0f, 1.0f / (exp(2.0f * distance) + 1.0f), 1.0f);
  return __builtin_copysignf(distance < 0.55f ? small : large, x);
}
EACH(tanh, float)

OVERLOAD float log(float x) {
  LogarithmParts l = logarithm(x);
  // ln 2 in two parts, of which k times the first is exact.
  return logarithm_of(x, fma(l.k, 0x1.63p-1f, l.f + fma(l.k, -0x1.bd0106p-13f, l.rest)));
}
OVERLOAD float log2(float x) {
  LogarithmParts l = logarithm(x);
  return logarithm_of(x, fma(l.f, M_LOG2E_F, fma(l.rest, M_LOG2E_F, l.f * 0x1.4ae0cp-26f)) + l.k);
}
OVERLOAD float log10(float x) {
  LogarithmParts l = logarithm(x);
  float low = fma(l.k, 0x1.3509f8p-18f, fma(l.rest, M_LOG10E_F, l.f * -0x1.5b235ep-27f));
  return logarithm_of(x, fma(l.k, 0x1.344p-2f, fma(l.f, M_LOG10E_F, low)));
}
EACH(log, float) EACH(log2, float) EACH(log10, float)

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

// ldexp: the machine's. libclc's is wrong for large exponents.
OVERLOAD float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
OVERLOAD double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
#define EACH_INT(NAME, T) \
  OVERLOAD T##2 NAME(T##2 x, int2 n) { return (T##2)(NAME(x.s0, n.s0), NAME(x.s1, n.s1)); } \
  OVERLOAD T##3 NAME(T##3 x, int3 n) { return (T##3)(NAME(x.s0, n.s0), NAME(x.s1, n.s1), NAME(x.s2, n.s2)); } \
  OVERLOAD T##4 NAME(T##4 x, int4 n) { return (T##4)(NAME(x.lo, n.lo), NAME(x.hi, n.hi)); } \
  OVERLOAD T##8 NAME(T##8 x, int8 n) { return (T##8)(NAME(x.lo, n.lo), NAME(x.hi, n.hi)); } \
  OVERLOAD T##16 NAME(T##16 x, int16 n) { return (T##16)(NAME(x.lo, n.lo), NAME(x.hi, n.hi)); }
#define EACH_SCALAR_INT(NAME, T) \
  OVERLOAD T##2 NAME(T##2 x, int n) { return NAME(x, (int2)n); } \
  OVERLOAD T##3 NAME(T##3 x, int n) { return NAME(x, (int3)n); } \
  OVERLOAD T##4 NAME(T##4 x, int n) { return NAME(x, (int4)n); } \
  OVERLOAD T##8 NAME(T##8 x, int n) { return NAME(x, (int8)n); } \
  OVERLOAD T##16 NAME(T##16 x, int n) { return NAME(x, (int16)n); }
EACH_INT(ldexp, float)
EACH_INT(ldexp, double)
EACH_SCALAR_INT(ldexp, float)
EACH_SCALAR_INT(ldexp, double)

// rootn of floats in double precision: libclc's flushes denormal arguments and results.
OVERLOAD float rootn(float x, int n) {
  float r = (float)pow(fabs((double)x), 1.0 / (double)n);
  r = n & 1 ? copysign(r, x) : x < 0.0f ? NAN : r;
  return n == 0 ? NAN : r;
}
EACH_INT(rootn, float)

// nan of a double: libclc's is an infinity for code 0.
#define NAN_OF(T, U) OVERLOAD T nan(U code) { return as_##T((U)((code & (U)0xfffffffffffffUL) | (U)0x7ff8000000000000UL)); }
NAN_OF(double, ulong) NAN_OF(double2, ulong2) NAN_OF(double3, ulong3) NAN_OF(double4, ulong4) NAN_OF(double8, ulong8) NAN_OF(double16, ulong16)

// Remainders of floats: exact in double precision. libclc's are wrong for denormal divisors.
OVERLOAD double fmod(double, double);
OVERLOAD double remainder(double, double);
OVERLOAD double remquo(double, double, __private int *);
#define EACH_TWO(NAME, T) \
  OVERLOAD T##2 NAME(T##2 x, T##2 y) { return (T##2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); } \
  OVERLOAD T##3 NAME(T##3 x, T##3 y) { return (T##3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); } \
  OVERLOAD T##4 NAME(T##4 x, T##4 y) { return (T##4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  OVERLOAD T##8 NAME(T##8 x, T##8 y) { return (T##8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  OVERLOAD T##16 NAME(T##16 x, T##16 y) { return (T##16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
OVERLOAD float fmod(float x, float y) { return (float)fmod((double)x, (double)y); }
EACH_TWO(fmod, float)
OVERLOAD float remainder(float x, float y) { return (float)remainder((double)x, (double)y); }
EACH_TWO(remainder, float)
OVERLOAD float remquo(float x, float y, __private int *q) { return (float)remquo((double)x, (double)y, q); }
OVERLOAD float2 remquo(float2 x, float2 y, __private int2 *q) {
  int a, b;
  float2 r = (float2)(remquo(x.s0, y.s0, &a), remquo(x.s1, y.s1, &b));
  *q = (int2)(a, b);
  return r;
}
OVERLOAD float3 remquo(float3 x, float3 y, __private int3 *q) {
  int a, b, c;
  float3 r = (float3)(remquo(x.s0, y.s0, &a), remquo(x.s1, y.s1, &b), remquo(x.s2, y.s2, &c));
  *q = (int3)(a, b, c);
  return r;
}
#define REMQUO_HALVES(N, H) \
  OVERLOAD float##N remquo(float##N x, float##N y, __private int##N *q) { \
    int##H a, b; \
    float##N r = (float##N)(remquo(x.lo, y.lo, &a), remquo(x.hi, y.hi, &b)); \
    *q = (int##N)(a, b); \
    return r; \
  }
REMQUO_HALVES(4, 2) REMQUO_HALVES(8, 4) REMQUO_HALVES(16, 8)
#define REMQUO_SPACES(N) \
  OVERLOAD float##N remquo(float##N x, float##N y, __local int##N *q) { int##N k; float##N r = remquo(x, y, &k); *q = k; return r; } \
  OVERLOAD float##N remquo(float##N x, float##N y, __global int##N *q) { int##N k; float##N r = remquo(x, y, &k); *q = k; return r; }
REMQUO_SPACES() REMQUO_SPACES(2) REMQUO_SPACES(3) REMQUO_SPACES(4) REMQUO_SPACES(8) REMQUO_SPACES(16)
