// Sine and cosine: libclc's, in two parts. The first one, the reduction of the argument to an eighth of a circle, is most of the work
// and the same for both. It is a function of its argument alone that is not inlined at first, so that LLVM makes one call of two where
// a program wants the sine and the cosine of one angle; the rest is straight-line code, of which LLVM finds for itself what both have
// in common. (AMDGPU's back end makes `sincos` of such pairs.)

#define PURE static __attribute__((noinline, const))

// Of libclc: r + rr is what is left of the argument, and the result how many quarters of a circle have been taken from it.
int __clc_argReductionS(__private float *r, __private float *rr, float x);
void __clc_remainder_piby2_medium(double x, __private double *r, __private double *rr, __private int *quarters);
void __clc_remainder_piby2_large(double x, __private double *r, __private double *rr, __private int *quarters);
// Sine, or cosine, or both, of x + y with |x + y| up to pi / 4.
float __clc_sinf_piby4(float x, float y);
float __clc_cosf_piby4(float x, float y);
double2 __clc_sincos_piby4(double x, double y);

// Bits of r and of rr, and the quarters. x: not negative.
PURE int4 __heddle_reduce_float(float x) {
  float r, rr;
  int quarters = __clc_argReductionS(&r, &rr, x);
  return (int4)(as_int(r), as_int(rr), quarters, 0);
}
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

OVERLOAD float sin(float x) {
  float distance = __builtin_fabsf(x);
  int4 reduced = __heddle_reduce_float(distance);
  float r = as_float(reduced.x), rr = as_float(reduced.y);
  float s = __clc_sinf_piby4(r, rr), c = __clc_cosf_piby4(r, rr), of_quarter = reduced.z & 1 ? c : s;
  int sign = SIGN_OF(reduced.z) ^ as_int(x) ^ as_int(distance);
  float signed_result = as_float(as_int(of_quarter) ^ sign);
  // Of infinities and NaN, and of zeros, which have their sign.
  float result = as_int(distance) > 0x7f7fffff ? as_float(0x7fc00000) : signed_result;
  return x == 0.0f ? x : result;
}
OVERLOAD float cos(float x) {
  float distance = __builtin_fabsf(x);
  int4 reduced = __heddle_reduce_float(distance);
  float r = as_float(reduced.x), rr = as_float(reduced.y);
  float s = __clc_sinf_piby4(r, rr), c = __clc_cosf_piby4(r, rr), of_quarter = reduced.z & 1 ? -s : c;
  float signed_result = as_float(as_int(of_quarter) ^ SIGN_OF(reduced.z));
  return as_int(distance) > 0x7f7fffff ? as_float(0x7fc00000) : signed_result;
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
