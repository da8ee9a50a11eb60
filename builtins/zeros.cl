// Math functions whose zeros have the wrong sign in libclc: C99's Annex F and OpenCL C 7.5.1 want the argument's with odd functions, and more of the functions
// with pi. `libclc_…` are libclc's own functions under the names that build.rs gives them.

// Odd functions: zeros stay as they are.
#define ODD(NAME) \
  double libclc_##NAME(double x); \
  OVERLOAD double NAME(double x) { return x == 0.0 ? x : libclc_##NAME(x); } \
  EACH(NAME, double)
ODD(atan)
ODD(atanpi)
ODD(erf)
ODD(expm1)
ODD(tan)

// Functions of pi x. An integer's sine has the integer's sign, a cosine's zero is positive, and an odd integer's tangent has the other sign.
#define OF_PI(T, LETTER) \
  T libclc_sinpi_##LETTER(T x); \
  T libclc_cospi_##LETTER(T x); \
  T libclc_tanpi_##LETTER(T x); \
  OVERLOAD T sinpi(T x) { T r = libclc_sinpi_##LETTER(x); return r == 0 ? copysign(r, x) : r; } \
  OVERLOAD T cospi(T x) { return libclc_cospi_##LETTER(x) + 0; } \
  OVERLOAD T tanpi(T x) { \
    T r = libclc_tanpi_##LETTER(x), half_x = x / 2; \
    return r == 0 ? copysign(r, half_x == trunc(half_x) ? x : -x) : r; \
  } \
  EACH(sinpi, T) EACH(cospi, T) EACH(tanpi, T)
OF_PI(float, f)
OF_PI(double, d)

// The fraction of a zero or an infinity, which are their own doubles, is a zero of the same sign. LARGEST: the largest number below 1.
#define FRACT_TO(SPACE, T, LARGEST) \
  OVERLOAD T fract(T x, SPACE T *p) { \
    T whole = floor(x), f = x - whole; \
    *p = whole; \
    f = f > LARGEST ? (T)LARGEST : f; \
    return x + x == x ? copysign((T)0, x) : f; \
  }
#define FRACT(T, LARGEST) FRACT_TO(__private, T, LARGEST) FRACT_TO(__local, T, LARGEST) FRACT_TO(__global, T, LARGEST)
#define FRACTS(T, LARGEST) FRACT(T, LARGEST) FRACT(T##2, LARGEST) FRACT(T##3, LARGEST) FRACT(T##4, LARGEST) FRACT(T##8, LARGEST) FRACT(T##16, LARGEST)
FRACTS(float, 0x1.fffffep-1f)
FRACTS(double, 0x1.fffffffffffffp-1)

// The next number in the order of bits. I: integers of T's size; S: their scalar; SIGN, INFINITE and QUIET: the bits of -0, infinity and a NaN.
#define NEXTAFTER(T, I, S, SIGN, INFINITE, QUIET) \
  OVERLOAD T nextafter(T x, T y) { \
    I i = as_##I(x), j = as_##I(y); \
    I a = i & ~(I)(S)SIGN, b = j & ~(I)(S)SIGN; \
    I from_zero = (j & (I)(S)SIGN) | (I)(S)1; \
    I away = (x < y) == (i < (I)0) ? i - (I)(S)1 : i + (I)(S)1; \
    I next = a == (I)0 ? from_zero : away; \
    next = x == y ? j : next; \
    next = a > (I)(S)INFINITE || b > (I)(S)INFINITE ? (I)(S)QUIET : next; \
    return as_##T(next); \
  }
#define NEXTAFTERS(T, S, SIGN, INFINITE, QUIET) \
  NEXTAFTER(T, S, S, SIGN, INFINITE, QUIET) NEXTAFTER(T##2, S##2, S, SIGN, INFINITE, QUIET) NEXTAFTER(T##3, S##3, S, SIGN, INFINITE, QUIET) \
  NEXTAFTER(T##4, S##4, S, SIGN, INFINITE, QUIET) NEXTAFTER(T##8, S##8, S, SIGN, INFINITE, QUIET) NEXTAFTER(T##16, S##16, S, SIGN, INFINITE, QUIET)
NEXTAFTERS(float, int, 0x80000000, 0x7f800000, 0x7fc00000)
NEXTAFTERS(double, long, 0x8000000000000000, 0x7ff0000000000000, 0x7ff8000000000000)
