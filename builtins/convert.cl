// Conversions from and to half, in all roundings. By way of float, which holds every half, and every integer that is not beyond the largest half.

#define TO_INTEGER(T, N, SUFFIX) \
  OVERLOAD T##N convert_##T##N##SUFFIX(float##N); \
  OVERLOAD T##N convert_##T##N##SUFFIX(half##N x) { return convert_##T##N##SUFFIX(__builtin_convertvector(x, float##N)); }
#define TO_INTEGER_1(T, SUFFIX) \
  OVERLOAD T convert_##T##SUFFIX(float); \
  OVERLOAD T convert_##T##SUFFIX(half x) { return convert_##T##SUFFIX((float)x); }
#define TO_INTEGER_WIDTHS(T, SUFFIX) \
  TO_INTEGER_1(T, SUFFIX) TO_INTEGER(T, 2, SUFFIX) TO_INTEGER(T, 3, SUFFIX) TO_INTEGER(T, 4, SUFFIX) TO_INTEGER(T, 8, SUFFIX) TO_INTEGER(T, 16, SUFFIX)
#define TO_INTEGER_ALL(T) \
  TO_INTEGER_WIDTHS(T, ) TO_INTEGER_WIDTHS(T, _rte) TO_INTEGER_WIDTHS(T, _rtz) TO_INTEGER_WIDTHS(T, _rtp) TO_INTEGER_WIDTHS(T, _rtn) \
  TO_INTEGER_WIDTHS(T, _sat) TO_INTEGER_WIDTHS(T, _sat_rte) TO_INTEGER_WIDTHS(T, _sat_rtz) TO_INTEGER_WIDTHS(T, _sat_rtp) TO_INTEGER_WIDTHS(T, _sat_rtn)
TO_INTEGER_ALL(char) TO_INTEGER_ALL(uchar) TO_INTEGER_ALL(short) TO_INTEGER_ALL(ushort)
TO_INTEGER_ALL(int) TO_INTEGER_ALL(uint) TO_INTEGER_ALL(long) TO_INTEGER_ALL(ulong)

// To a float type every half converts exactly.
#define TO_REAL(T, SUFFIX) \
  OVERLOAD T convert_##T##SUFFIX(half x) { return (T)x; } \
  OVERLOAD T##2 convert_##T##2##SUFFIX(half2 x) { return __builtin_convertvector(x, T##2); } \
  OVERLOAD T##3 convert_##T##3##SUFFIX(half3 x) { return __builtin_convertvector(x, T##3); } \
  OVERLOAD T##4 convert_##T##4##SUFFIX(half4 x) { return __builtin_convertvector(x, T##4); } \
  OVERLOAD T##8 convert_##T##8##SUFFIX(half8 x) { return __builtin_convertvector(x, T##8); } \
  OVERLOAD T##16 convert_##T##16##SUFFIX(half16 x) { return __builtin_convertvector(x, T##16); }
#define TO_REAL_ALL(T) TO_REAL(T, ) TO_REAL(T, _rte) TO_REAL(T, _rtz) TO_REAL(T, _rtp) TO_REAL(T, _rtn)
TO_REAL_ALL(float) TO_REAL_ALL(double) TO_REAL_ALL(half)

// The nearest half, put right where it lies on the wrong side.
static half up(half h) { short i = as_short(h); return as_half((short)(i == (short)0x8000 ? 1 : i < 0 ? i - 1 : i + 1)); }
static half down(half h) { return -up(-h); }
#define FROM_MODES(T, REAL) \
  OVERLOAD half convert_half(T x) { return (half)(REAL)x; } \
  OVERLOAD half convert_half_rte(T x) { return (half)(REAL)x; } \
  OVERLOAD half convert_half_rtp(T x) { REAL r = (REAL)x; half h = (half)r; return (REAL)h < r ? up(h) : h; } \
  OVERLOAD half convert_half_rtn(T x) { REAL r = (REAL)x; half h = (half)r; return (REAL)h > r ? down(h) : h; } \
  OVERLOAD half convert_half_rtz(T x) { REAL r = (REAL)x; half h = (half)r; return r > 0 && (REAL)h > r ? down(h) : r < 0 && (REAL)h < r ? up(h) : h; }
#define FROM_WIDTHS(T, SUFFIX) \
  OVERLOAD half2 convert_half2##SUFFIX(T##2 x) { return (half2)(convert_half##SUFFIX(x.s0), convert_half##SUFFIX(x.s1)); } \
  OVERLOAD half3 convert_half3##SUFFIX(T##3 x) { return (half3)(convert_half##SUFFIX(x.s0), convert_half##SUFFIX(x.s1), convert_half##SUFFIX(x.s2)); } \
  OVERLOAD half4 convert_half4##SUFFIX(T##4 x) { return (half4)(convert_half2##SUFFIX(x.lo), convert_half2##SUFFIX(x.hi)); } \
  OVERLOAD half8 convert_half8##SUFFIX(T##8 x) { return (half8)(convert_half4##SUFFIX(x.lo), convert_half4##SUFFIX(x.hi)); } \
  OVERLOAD half16 convert_half16##SUFFIX(T##16 x) { return (half16)(convert_half8##SUFFIX(x.lo), convert_half8##SUFFIX(x.hi)); }
#define FROM_ALL(T, REAL) \
  FROM_MODES(T, REAL) FROM_WIDTHS(T, ) FROM_WIDTHS(T, _rte) FROM_WIDTHS(T, _rtz) FROM_WIDTHS(T, _rtp) FROM_WIDTHS(T, _rtn)
FROM_ALL(char, float) FROM_ALL(uchar, float) FROM_ALL(short, float) FROM_ALL(ushort, float) FROM_ALL(int, float) FROM_ALL(uint, float)
FROM_ALL(long, float) FROM_ALL(ulong, float) FROM_ALL(float, float) FROM_ALL(double, double)

// Integers to floats that do not hold them all, in the directed roundings: libclc's are wrong next to the integers' limits.
#define DIRECTED(F, B, T, LIMIT) \
  static int side_##F##_##T(F h, T x) { return h >= LIMIT || (T)h > x ? 1 : (T)h < x ? -1 : 0; } \
  OVERLOAD F convert_##F##_rtp(T x) { F h = (F)x; return side_##F##_##T(h, x) < 0 ? as_##F((B)(as_##B(h) + (h < 0 ? -1 : 1))) : h; } \
  OVERLOAD F convert_##F##_rtn(T x) { F h = (F)x; return side_##F##_##T(h, x) > 0 ? as_##F((B)(as_##B(h) + (h < 0 ? 1 : -1))) : h; } \
  OVERLOAD F convert_##F##_rtz(T x) { F h = (F)x; int s = side_##F##_##T(h, x); return (h > 0 && s > 0) || (h < 0 && s < 0) ? as_##F((B)(as_##B(h) - 1)) : h; } \
  DIRECTED_WIDTHS(F, T, _rtp) DIRECTED_WIDTHS(F, T, _rtn) DIRECTED_WIDTHS(F, T, _rtz)
#define DIRECTED_WIDTHS(F, T, SUFFIX) \
  OVERLOAD F##2 convert_##F##2##SUFFIX(T##2 x) { return (F##2)(convert_##F##SUFFIX(x.s0), convert_##F##SUFFIX(x.s1)); } \
  OVERLOAD F##3 convert_##F##3##SUFFIX(T##3 x) { return (F##3)(convert_##F##SUFFIX(x.s0), convert_##F##SUFFIX(x.s1), convert_##F##SUFFIX(x.s2)); } \
  OVERLOAD F##4 convert_##F##4##SUFFIX(T##4 x) { return (F##4)(convert_##F##2##SUFFIX(x.lo), convert_##F##2##SUFFIX(x.hi)); } \
  OVERLOAD F##8 convert_##F##8##SUFFIX(T##8 x) { return (F##8)(convert_##F##4##SUFFIX(x.lo), convert_##F##4##SUFFIX(x.hi)); } \
  OVERLOAD F##16 convert_##F##16##SUFFIX(T##16 x) { return (F##16)(convert_##F##8##SUFFIX(x.lo), convert_##F##8##SUFFIX(x.hi)); }
DIRECTED(float, int, int, 0x1p31f) DIRECTED(float, int, uint, 0x1p32f) DIRECTED(float, int, long, 0x1p63f) DIRECTED(float, int, ulong, 0x1p64f)
DIRECTED(double, long, long, 0x1p63) DIRECTED(double, long, ulong, 0x1p64)

// Doubles to floats, in the directed roundings: libclc's step from the negative number next to zero loses the sign.
#define NARROWED(SUFFIX, WRONG, STEP) \
  OVERLOAD float convert_float##SUFFIX(double x) { float h = (float)x; return WRONG ? as_float(as_int(h) + (STEP)) : h; } \
  DIRECTED_WIDTHS(float, double, SUFFIX)
NARROWED(_rtp, (double)h < x, as_int(h) < 0 ? -1 : 1)
NARROWED(_rtn, (double)h > x, as_int(h) > 0 ? -1 : 1)
NARROWED(_rtz, (x > 0 ? (double)h > x : (double)h < x), -1)

// Stores of halves in all roundings: libclc's directed ones lose numbers below the smallest half.
#define STORE_ROUNDED(SPACE, F, MODE) \
  OVERLOAD void vstore_half##MODE(F x, size_t i, SPACE half *p) { p[i] = convert_half##MODE(x); } \
  STORE_ROUNDED_N(SPACE, F, MODE, 2, 2) STORE_ROUNDED_N(SPACE, F, MODE, 3, 4) STORE_ROUNDED_N(SPACE, F, MODE, 4, 4) \
  STORE_ROUNDED_N(SPACE, F, MODE, 8, 8) STORE_ROUNDED_N(SPACE, F, MODE, 16, 16)
#define STORE_ROUNDED_N(SPACE, F, MODE, N, ROOM) \
  OVERLOAD void vstore_half##N##MODE(F##N x, size_t i, SPACE half *p) { vstore##N(convert_half##N##MODE(x), i, p); } \
  OVERLOAD void vstorea_half##N##MODE(F##N x, size_t i, SPACE half *p) { vstore##N(convert_half##N##MODE(x), 0, p + i * ROOM); }
#define STORE_MODES(SPACE, F) STORE_ROUNDED(SPACE, F, _rtz) STORE_ROUNDED(SPACE, F, _rtp) STORE_ROUNDED(SPACE, F, _rtn)
STORE_MODES(__private, float) STORE_MODES(__local, float) STORE_MODES(__global, float)
STORE_MODES(__private, double) STORE_MODES(__local, double) STORE_MODES(__global, double)
