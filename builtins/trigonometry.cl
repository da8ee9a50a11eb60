// Sine and cosine, in two parts. The first one, the reduction of the argument to an eighth of a circle, is most of the work
// and the same for both. It is a function of its argument alone that is not inlined at first, so that LLVM makes one call of two where
// a program wants the sine and the cosine of one angle; the rest is straight-line code, of which LLVM finds for itself what both have
// in common. (AMDGPU's back end makes `sincos` of such pairs.)

#define PURE static __attribute__((noinline, const))

// Of libclc: r + rr is what is left of the argument, and the result how many quarters of a circle have been taken from it.
int __clc_argReductionS(__private float *r, __private float *rr, float x);
void __clc_remainder_piby2_medium(double x, __private double *r, __private double *rr, __private int *quarters);
void __clc_remainder_piby2_large(double x, __private double *r, __private double *rr, __private int *quarters);
// Sine and cosine of x + y with |x + y| up to pi / 4.
double2 __clc_sincos_piby4(double x, double y);

// Bits of what is left, and the quarters. x: not negative; the rest of an infinity is NaN. Below 2^17 the quarters of a circle are taken off in three
// parts of pi / 2 (Cody and Waite): the product with the first is exact in the sum, and each sum is rounded to what it leaves, so that it is right
// to an ulp however near to a multiple x is. Beyond that libclc multiplies with as many bits of 2 / pi as it takes (Payne and Hanek).
PURE int2 __heddle_reduce_float(float x) {
  if (x < 0x1p17f) {
    float t = fma(x, M_2_PI_F, SHIFTER), k = t - SHIFTER;
    float r = fma(k, -0x1.921fb6p+0f, x);
    r = fma(k, 0x1.777a5cp-25f, r);
    r = fma(k, 0x1.ee59dap-50f, r);
    return (int2)(as_int(r), as_int(t));
  }
  float r, rr;
  int quarters = __clc_argReductionS(&r, &rr, x);
  return (int2)(as_int(x < INFINITY ? r + rr : NAN), quarters);
}
// Bits of r and of rr, and the quarters.
PURE long4 __heddle_reduce_double(double x) {
  double r, rr;
  int quarters;
  if (x < 0x1.0p+47)
    __clc_remainder_piby2_medium(x, &r, &rr, &quarters);
  else
    __clc_remainder_piby2_large(x, &r, &rr, &quarters);
  return (long4)(as_long(r), as_long(rr), quarters, 0);
}

// The sign bit of the third and the fourth quarter.
#define SIGN_OF(QUARTERS) (((QUARTERS) << 30) & (int)0x80000000)

// Of |r| up to pi / 4: the polynomials of their degrees with the least relative error, 2^-32.
static float sine_of(float r) {
  float square = r * r;
  float p = fma(square, 0x1.7c2d52p-19f, -0x1.a05956p-13f);
  p = fma(square, p, 0x1.111174p-7f);
  p = fma(square, p, -0x1.555556p-3f);
  return fma(r * square, p, r);
}
static float cosine_of(float r) {
  float square = r * r;
  float p = fma(square, 0x1.99e71cp-16f, -0x1.6c0c26p-10f);
  p = fma(square, p, 0x1.55554ap-5f);
  return fma(square * square, p, fma(square, -0.5f, 1.0f));
}

OVERLOAD float sin(float x) {
  float distance = __builtin_fabsf(x);
  int2 reduced = __heddle_reduce_float(distance);
  float r = as_float(reduced.x), s = sine_of(r), c = cosine_of(r), of_quarter = reduced.y & 1 ? c : s;
  return as_float(as_int(of_quarter) ^ ((reduced.y << 30 ^ as_int(x)) & (int)0x80000000));
}
OVERLOAD float cos(float x) {
  float distance = __builtin_fabsf(x);
  int2 reduced = __heddle_reduce_float(distance);
  float r = as_float(reduced.x), s = sine_of(r), c = cosine_of(r), of_quarter = reduced.y & 1 ? s : c;
  return as_float(as_int(of_quarter) ^ SIGN_OF(reduced.y + 1));
}

OVERLOAD double sin(double x) {
  double distance = __builtin_fabs(x);
  long4 reduced = __heddle_reduce_double(distance);
  double2 both = __clc_sincos_piby4(as_double(reduced.x), as_double(reduced.y));
  int2 of_quarter = as_int2(reduced.z & 1 ? both.y : both.x);
  of_quarter.y ^= SIGN_OF((int)reduced.z) ^ (x < 0.0 ? (int)0x80000000 : 0);
  double result = distance < INFINITY ? as_double(of_quarter) : as_double(0x7ff8000000000000L);
  return x == 0.0 ? x : result;
}
OVERLOAD double cos(double x) {
  double distance = __builtin_fabs(x);
  long4 reduced = __heddle_reduce_double(distance);
  double2 both = __clc_sincos_piby4(as_double(reduced.x), as_double(reduced.y));
  int2 of_quarter = as_int2(reduced.z & 1 ? -both.x : both.y);
  of_quarter.y ^= SIGN_OF((int)reduced.z);
  return distance < INFINITY ? as_double(of_quarter) : as_double(0x7ff8000000000000L);
}
EACH(sin, float) EACH(cos, float) EACH(sin, double) EACH(cos, double)

#define SINCOS_TO(T, SPACE) OVERLOAD T sincos(T x, SPACE T *c) { *c = cos(x); return sin(x); }
#define SINCOS(T) SINCOS_TO(T, __private) SINCOS_TO(T, __local) SINCOS_TO(T, __global)
#define SINCOSES(T) SINCOS(T) SINCOS(T##2) SINCOS(T##3) SINCOS(T##4) SINCOS(T##8) SINCOS(T##16)
SINCOSES(float) SINCOSES(double)
