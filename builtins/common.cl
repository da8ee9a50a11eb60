// Common and integer functions in place of libclc's, in the operations that the machine has: libclc spells them out with comparisons and choices, or with
// bits, which LLVM does not recognise again.

#define WIDTHS(WHAT, T) WHAT(T##2) WHAT(T##3) WHAT(T##4) WHAT(T##8) WHAT(T##16)

// Of a NaN the other operand; OpenCL C leaves that open for min, max and clamp.
#define ORDERED(T) \
  OVERLOAD T min(T x, T y) { return __builtin_elementwise_min(x, y); } \
  OVERLOAD T max(T x, T y) { return __builtin_elementwise_max(x, y); } \
  OVERLOAD T clamp(T x, T low, T high) { return __builtin_elementwise_min(__builtin_elementwise_max(x, low), high); }
#define ORDERED_BY(T, S) \
  OVERLOAD T min(T x, S y) { return __builtin_elementwise_min(x, (T)y); } \
  OVERLOAD T max(T x, S y) { return __builtin_elementwise_max(x, (T)y); } \
  OVERLOAD T clamp(T x, S low, S high) { return __builtin_elementwise_min(__builtin_elementwise_max(x, (T)low), (T)high); }
#define ALL_ORDERED(T) \
  ORDERED(T) WIDTHS(ORDERED, T) ORDERED_BY(T##2, T) ORDERED_BY(T##3, T) ORDERED_BY(T##4, T) ORDERED_BY(T##8, T) ORDERED_BY(T##16, T)
ALL_ORDERED(char) ALL_ORDERED(uchar) ALL_ORDERED(short) ALL_ORDERED(ushort) ALL_ORDERED(int) ALL_ORDERED(uint) ALL_ORDERED(long) ALL_ORDERED(ulong)
ALL_ORDERED(float) ALL_ORDERED(double)

// The square root of what is below zero is NaN anyway.
#define ROOT(T) OVERLOAD T sqrt(T x) { return __builtin_elementwise_sqrt(x); }
ROOT(float) WIDTHS(ROOT, float) ROOT(double) WIDTHS(ROOT, double)
#define RECIPROCAL_ROOT(T) OVERLOAD T rsqrt(T x) { return (T)1 / __builtin_elementwise_sqrt(x); }
RECIPROCAL_ROOT(float) WIDTHS(RECIPROCAL_ROOT, float) RECIPROCAL_ROOT(double) WIDTHS(RECIPROCAL_ROOT, double)

// 1 or, of zeros and NaNs, 0, with the sign of the number.
#define SIGN(T) OVERLOAD T sign(T x) { return __builtin_elementwise_copysign((x < 0 || x > 0) ? (T)1 : (T)0, x); }
SIGN(float) WIDTHS(SIGN, float) SIGN(double) WIDTHS(SIGN, double)

// In types that hold sums and differences of two.
#define NARROW(T, U, WIDE) \
  OVERLOAD U abs_diff(T x, T y) { return __builtin_convertvector(__builtin_elementwise_abs(WIDEN(WIDE, x) - WIDEN(WIDE, y)), U); } \
  OVERLOAD T hadd(T x, T y) { return __builtin_convertvector((WIDEN(WIDE, x) + WIDEN(WIDE, y)) >> 1, T); } \
  OVERLOAD T rhadd(T x, T y) { return __builtin_convertvector((WIDEN(WIDE, x) + WIDEN(WIDE, y) + 1) >> 1, T); }
#define NARROW_1(T, U) \
  OVERLOAD U abs_diff(T x, T y) { return (U)__builtin_elementwise_abs((int)x - (int)y); } \
  OVERLOAD T hadd(T x, T y) { return (T)(((int)x + (int)y) >> 1); } \
  OVERLOAD T rhadd(T x, T y) { return (T)(((int)x + (int)y + 1) >> 1); }
#define ALL_NARROW(T, U) \
  NARROW_1(T, U) NARROW(T##2, U##2, int2) NARROW(T##3, U##3, int3) NARROW(T##4, U##4, int4) NARROW(T##8, U##8, int8) NARROW(T##16, U##16, int16)
#define WIDEN(F, x) __builtin_convertvector(x, F)
ALL_NARROW(char, uchar) ALL_NARROW(uchar, uchar) ALL_NARROW(short, ushort) ALL_NARROW(ushort, ushort)
#undef WIDEN
// Without: of the bits that both have, and of those that one has, the half.
#define FULL(T, U) \
  OVERLOAD U abs_diff(T x, T y) { return CAST(U, __builtin_elementwise_max(x, y)) - CAST(U, __builtin_elementwise_min(x, y)); } \
  OVERLOAD T hadd(T x, T y) { return (x & y) + ((x ^ y) >> (T)1); } \
  OVERLOAD T rhadd(T x, T y) { return (x | y) - ((x ^ y) >> (T)1); }
#define ALL_FULL(T, U) FULL(T, U) FULL(T##2, U##2) FULL(T##3, U##3) FULL(T##4, U##4) FULL(T##8, U##8) FULL(T##16, U##16)
#define CAST(U, x) as_##U(x)
ALL_FULL(int, uint) ALL_FULL(uint, uint) ALL_FULL(long, ulong) ALL_FULL(ulong, ulong)

// The functions of two operands on the elements of vectors.
#define EACH_2(NAME, R, T) \
  OVERLOAD R##2 NAME(T##2 x, T##2 y) { return (R##2)(NAME(x.s0, y.s0), NAME(x.s1, y.s1)); } \
  OVERLOAD R##3 NAME(T##3 x, T##3 y) { return (R##3)(NAME(x.s0, y.s0), NAME(x.s1, y.s1), NAME(x.s2, y.s2)); } \
  OVERLOAD R##4 NAME(T##4 x, T##4 y) { return (R##4)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  OVERLOAD R##8 NAME(T##8 x, T##8 y) { return (R##8)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); } \
  OVERLOAD R##16 NAME(T##16 x, T##16 y) { return (R##16)(NAME(x.lo, y.lo), NAME(x.hi, y.hi)); }
#define ROTATE(T, BITS) OVERLOAD T rotate(T x, T n) { return (T)__builtin_rotateleft##BITS(x, n); }
#define ALL_ROTATE(T, BITS) ROTATE(T, BITS) EACH_2(rotate, T, T)
ALL_ROTATE(char, 8) ALL_ROTATE(uchar, 8) ALL_ROTATE(short, 16) ALL_ROTATE(ushort, 16) ALL_ROTATE(int, 32) ALL_ROTATE(uint, 32)
ALL_ROTATE(long, 64) ALL_ROTATE(ulong, 64)

OVERLOAD long mul_hi(long x, long y) { return (long)(((__int128)x * y) >> 64); }
OVERLOAD ulong mul_hi(ulong x, ulong y) { return (ulong)(((unsigned __int128)x * y) >> 64); }
EACH_2(mul_hi, long, long) EACH_2(mul_hi, ulong, ulong)

// Conversions that clamp: LLVM's intrinsics, which are one instruction.
#define CLAMPED_TO(T, BITS, KIND) \
  CLAMPED(T, i##BITS, float, f32, KIND) CLAMPED_N(T, i##BITS, float, f32, KIND, 2) CLAMPED_N(T, i##BITS, float, f32, KIND, 3) \
  CLAMPED_N(T, i##BITS, float, f32, KIND, 4) CLAMPED_N(T, i##BITS, float, f32, KIND, 8) CLAMPED_N(T, i##BITS, float, f32, KIND, 16) \
  CLAMPED(T, i##BITS, double, f64, KIND) CLAMPED_N(T, i##BITS, double, f64, KIND, 2) CLAMPED_N(T, i##BITS, double, f64, KIND, 3) \
  CLAMPED_N(T, i##BITS, double, f64, KIND, 4) CLAMPED_N(T, i##BITS, double, f64, KIND, 8) CLAMPED_N(T, i##BITS, double, f64, KIND, 16)
#define CLAMPED(T, I, F, FI, KIND) \
  T __heddle_clamped_##T##_##F(F x) __asm("llvm." #KIND ".sat." #I "." #FI); \
  ROUNDED(T, F, __heddle_clamped_##T##_##F)
#define CLAMPED_N(T, I, F, FI, KIND, N) \
  T##N __heddle_clamped_##T##N##_##F(F##N x) __asm("llvm." #KIND ".sat.v" #N #I ".v" #N #FI); \
  ROUNDED(T##N, F##N, __heddle_clamped_##T##N##_##F)
#define ROUNDED(T, F, CLAMPED) \
  OVERLOAD T convert_##T##_sat(F x) { return CLAMPED(x); } \
  OVERLOAD T convert_##T##_sat_rtz(F x) { return CLAMPED(x); } \
  OVERLOAD T convert_##T##_sat_rte(F x) { return CLAMPED(__builtin_elementwise_roundeven(x)); } \
  OVERLOAD T convert_##T##_sat_rtp(F x) { return CLAMPED(__builtin_elementwise_ceil(x)); } \
  OVERLOAD T convert_##T##_sat_rtn(F x) { return CLAMPED(__builtin_elementwise_floor(x)); }
CLAMPED_TO(char, 8, fptosi) CLAMPED_TO(uchar, 8, fptoui) CLAMPED_TO(short, 16, fptosi) CLAMPED_TO(ushort, 16, fptoui)
CLAMPED_TO(int, 32, fptosi) CLAMPED_TO(uint, 32, fptoui) CLAMPED_TO(long, 64, fptosi) CLAMPED_TO(ulong, 64, fptoui)

// Quotients by way of the reciprocal, which is an instruction of its own and quicker than a division, as the reciprocal root is.
#define APPROXIMATE(T) \
  OVERLOAD T native_divide(T x, T y) { return x * (1.0f / y); } \
  OVERLOAD T half_divide(T x, T y) { return x * (1.0f / y); } \
  OVERLOAD T native_recip(T x) { return 1.0f / x; } \
  OVERLOAD T half_recip(T x) { return 1.0f / x; } \
  OVERLOAD T native_sqrt(T x) { return __builtin_elementwise_sqrt(x); } \
  OVERLOAD T half_sqrt(T x) { return __builtin_elementwise_sqrt(x); } \
  OVERLOAD T native_rsqrt(T x) { return 1.0f / __builtin_elementwise_sqrt(x); } \
  OVERLOAD T half_rsqrt(T x) { return 1.0f / __builtin_elementwise_sqrt(x); }
APPROXIMATE(float) WIDTHS(APPROXIMATE, float)

// No less accurate than they have to be: as the functions themselves, which are short.
#define HALF_AS(NAME) HALF_AS_T(NAME, float) HALF_AS_T(NAME, float2) HALF_AS_T(NAME, float3) HALF_AS_T(NAME, float4) HALF_AS_T(NAME, float8) HALF_AS_T(NAME, float16)
#define HALF_AS_T(NAME, T) OVERLOAD T half_##NAME(T x) { return NAME(x); }
HALF_AS(exp) HALF_AS(exp2) HALF_AS(log) HALF_AS(log2) HALF_AS(log10) HALF_AS(sin) HALF_AS(cos)
#define HALF_POWR(T) OVERLOAD T half_powr(T x, T y) { return powr(x, y); }
HALF_POWR(float) WIDTHS(HALF_POWR, float)

// Lengths. Where the square is infinite, denormal or 0, libclc's functions scale the vector; one comparison finds that.
static bool is_ordinary(float square) { return as_uint(square) - 0x00800000u < 0x7f000000u; }
#define LENGTHS(T, N) \
  float libclc_length_##N(T p); \
  T libclc_normalize_##N(T p); \
  OVERLOAD float length(T p) { \
    float square = dot(p, p); \
    return is_ordinary(square) ? sqrt(square) : libclc_length_##N(p); \
  } \
  OVERLOAD float distance(T p, T q) { return length(p - q); } \
  OVERLOAD T normalize(T p) { \
    float square = dot(p, p); \
    return is_ordinary(square) ? p * rsqrt(square) : libclc_normalize_##N(p); \
  } \
  OVERLOAD T fast_normalize(T p) { \
    float square = dot(p, p); \
    return p * (square == 0 ? 1.0f : rsqrt(square)); \
  }
LENGTHS(float2, 2) LENGTHS(float3, 3) LENGTHS(float4, 4)
// libclc's of scalars is the sign, which is 0 of what is no number.
OVERLOAD float normalize(float p) { return isnan(p) ? p : sign(p); }
OVERLOAD double normalize(double p) { return isnan(p) ? p : sign(p); }
OVERLOAD float fast_normalize(float p) { return normalize(p); }
