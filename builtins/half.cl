// The rest of cl_khr_fp16: math functions with integers and pointers, common and geometric functions with scalars, relational functions, vector loads and
// stores, shuffles, copies and conversions.

#define AS_FLOAT(N, x) __builtin_convertvector(x, float##N)
#define AS_HALF(N, x) __builtin_convertvector(x, half##N)
#define WIDTHS(WHAT) WHAT(2) WHAT(3) WHAT(4) WHAT(8) WHAT(16)

// A half with an integer.
#define WITH_INT(NAME) \
  OVERLOAD float NAME(float, int); \
  OVERLOAD half NAME(half x, int n) { return (half)NAME((float)x, n); } \
  VECTORS(WITH_INT_N, NAME)
#define WITH_INT_N(NAME, N) \
  OVERLOAD float##N NAME(float##N, int##N); \
  OVERLOAD half##N NAME(half##N x, int##N n) { return AS_HALF(N, NAME(AS_FLOAT(N, x), n)); }
WITH_INT(pown) WITH_INT(rootn) WITH_INT(ldexp)
#define LDEXP_SCALAR(N) OVERLOAD half##N ldexp(half##N x, int n) { return ldexp(x, (int##N)n); }
WIDTHS(LDEXP_SCALAR)

#define ILOGB(N) \
  OVERLOAD int##N ilogb(float##N); \
  OVERLOAD int##N ilogb(half##N x) { return ilogb(AS_FLOAT(N, x)); }
OVERLOAD int ilogb(float);
OVERLOAD int ilogb(half x) { return ilogb((float)x); }
WIDTHS(ILOGB)

HALF_BINARY(maxmag) HALF_BINARY(minmag)

NEXTAFTERS(half, short, 0x8000, 0x7c00, 0x7e00)
#define NAN_OF_HALF(H, U) OVERLOAD H nan(U code) { return as_##H((U)((code & (U)0x1ff) | (U)0x7e00)); }
NAN_OF_HALF(half, ushort) NAN_OF_HALF(half2, ushort2) NAN_OF_HALF(half3, ushort3)
NAN_OF_HALF(half4, ushort4) NAN_OF_HALF(half8, ushort8) NAN_OF_HALF(half16, ushort16)

// Functions with a result behind a pointer. The largest half below 1 bounds fract.
#define BELOW_ONE 0x1.ffcp-1f
#define POINTERS(SPACE, H, F, I, TO_F, TO_H) \
  OVERLOAD H fract(H x, SPACE H *p) { \
    F w, f = fract(TO_F(x), &w); \
    *p = TO_H(w); \
    return TO_H((f > BELOW_ONE ? (F)BELOW_ONE : f)); \
  } \
  OVERLOAD H modf(H x, SPACE H *p) { F w, f = modf(TO_F(x), &w); *p = TO_H(w); return TO_H(f); } \
  OVERLOAD H sincos(H x, SPACE H *p) { F c, s = sincos(TO_F(x), &c); *p = TO_H(c); return TO_H(s); } \
  OVERLOAD H frexp(H x, SPACE I *p) { I e; F f = frexp(TO_F(x), &e); *p = e; return TO_H(f); } \
  OVERLOAD H lgamma_r(H x, SPACE I *p) { I e; F f = lgamma_r(TO_F(x), &e); *p = e; return TO_H(f); } \
  OVERLOAD H remquo(H x, H y, SPACE I *p) { I e; F f = remquo(TO_F(x), TO_F(y), &e); *p = e; return TO_H(f); }
#define DECLARE_POINTERS(F, I) \
  OVERLOAD F fract(F, __private F *); \
  OVERLOAD F modf(F, __private F *); \
  OVERLOAD F sincos(F, __private F *); \
  OVERLOAD F frexp(F, __private I *); \
  OVERLOAD F lgamma_r(F, __private I *); \
  OVERLOAD F remquo(F, F, __private I *);
#define ALL_POINTERS(H, F, I, TO_F, TO_H) \
  DECLARE_POINTERS(F, I) \
  POINTERS(__private, H, F, I, TO_F, TO_H) POINTERS(__local, H, F, I, TO_F, TO_H) POINTERS(__global, H, F, I, TO_F, TO_H)
#define TO_F1(x) ((float)(x))
#define TO_H1(x) ((half)(x))
#define TO_F2(x) AS_FLOAT(2, x)
#define TO_H2(x) AS_HALF(2, x)
#define TO_F3(x) AS_FLOAT(3, x)
#define TO_H3(x) AS_HALF(3, x)
#define TO_F4(x) AS_FLOAT(4, x)
#define TO_H4(x) AS_HALF(4, x)
#define TO_F8(x) AS_FLOAT(8, x)
#define TO_H8(x) AS_HALF(8, x)
#define TO_F16(x) AS_FLOAT(16, x)
#define TO_H16(x) AS_HALF(16, x)
ALL_POINTERS(half, float, int, TO_F1, TO_H1)
#define POINTERS_N(N) ALL_POINTERS(half##N, float##N, int##N, TO_F##N, TO_H##N)
WIDTHS(POINTERS_N)

// Common functions with scalar limits.
#define COMMON(N) \
  OVERLOAD half##N max(half##N x, half y) { return max(x, (half##N)y); } \
  OVERLOAD half##N min(half##N x, half y) { return min(x, (half##N)y); } \
  OVERLOAD half##N fmax(half##N x, half y) { return fmax(x, (half##N)y); } \
  OVERLOAD half##N fmin(half##N x, half y) { return fmin(x, (half##N)y); } \
  OVERLOAD half##N clamp(half##N x, half low, half high) { return clamp(x, (half##N)low, (half##N)high); } \
  OVERLOAD half##N mix(half##N x, half##N y, half a) { return mix(x, y, (half##N)a); } \
  OVERLOAD half##N step(half edge, half##N x) { return step((half##N)edge, x); } \
  OVERLOAD half##N smoothstep(half low, half high, half##N x) { return smoothstep((half##N)low, (half##N)high, x); }
WIDTHS(COMMON)

// Geometric functions in single precision.
#define GEOMETRIC(N) \
  OVERLOAD float dot(float##N, float##N); \
  OVERLOAD half dot(half##N x, half##N y) { return (half)dot(AS_FLOAT(N, x), AS_FLOAT(N, y)); } \
  OVERLOAD half length(half##N x) { float##N f = AS_FLOAT(N, x); return (half)sqrt(dot(f, f)); } \
  OVERLOAD half distance(half##N x, half##N y) { float##N f = AS_FLOAT(N, x) - AS_FLOAT(N, y); return (half)sqrt(dot(f, f)); } \
  OVERLOAD float##N normalize(float##N); \
  OVERLOAD half##N normalize(half##N x) { return AS_HALF(N, normalize(AS_FLOAT(N, x))); }
OVERLOAD half dot(half x, half y) { return x * y; }
OVERLOAD half length(half x) { return fabs(x); }
OVERLOAD half distance(half x, half y) { return (half)fabs((float)x - (float)y); }
OVERLOAD float normalize(float);
OVERLOAD half normalize(half x) { return (half)normalize((float)x); }
GEOMETRIC(2) GEOMETRIC(3) GEOMETRIC(4)
#define CROSS(N) \
  OVERLOAD float##N cross(float##N, float##N); \
  OVERLOAD half##N cross(half##N x, half##N y) { return AS_HALF(N, cross(AS_FLOAT(N, x), AS_FLOAT(N, y))); }
CROSS(3) CROSS(4)

// Relational functions: 1 for scalars, -1 for elements of vectors.
#define RELATION(H, S, R) \
  OVERLOAD R isequal(H x, H y) { return x == y; } \
  OVERLOAD R isnotequal(H x, H y) { return x != y; } \
  OVERLOAD R isgreater(H x, H y) { return x > y; } \
  OVERLOAD R isgreaterequal(H x, H y) { return x >= y; } \
  OVERLOAD R isless(H x, H y) { return x < y; } \
  OVERLOAD R islessequal(H x, H y) { return x <= y; } \
  OVERLOAD R islessgreater(H x, H y) { return x < y || x > y; } \
  OVERLOAD R isordered(H x, H y) { return x == x && y == y; } \
  OVERLOAD R isunordered(H x, H y) { return x != x || y != y; } \
  OVERLOAD R isnan(H x) { return x != x; } \
  OVERLOAD R isinf(H x) { return (as_##S(x) & (S)0x7fff) == (S)0x7c00; } \
  OVERLOAD R isfinite(H x) { return (as_##S(x) & (S)0x7c00) != (S)0x7c00; } \
  OVERLOAD R isnormal(H x) { return (as_##S(x) & (S)0x7c00) != (S)0x7c00 && (as_##S(x) & (S)0x7c00) != (S)0; } \
  OVERLOAD R signbit(H x) { return as_##S(x) < (S)0; } \
  OVERLOAD H bitselect(H x, H y, H c) { return as_##H((S)(as_##S(x) ^ (as_##S(c) & (as_##S(y) ^ as_##S(x))))); }
RELATION(half, short, int)
#define RELATION_N(N) \
  RELATION(half##N, short##N, short##N) \
  OVERLOAD half##N select(half##N x, half##N y, short##N c) { return c < (short##N)0 ? y : x; } \
  OVERLOAD half##N select(half##N x, half##N y, ushort##N c) { return as_short##N(c) < (short##N)0 ? y : x; }
WIDTHS(RELATION_N)
OVERLOAD half select(half x, half y, short c) { return c ? y : x; }
OVERLOAD half select(half x, half y, ushort c) { return c ? y : x; }

// Vectors of halves at addresses of one half. They are accessed as halves, or as vectors of them: another type would not alias what the
// program accesses as `half`. Of 3 elements no more than those are touched.
#define LOOSE_HALF(N) typedef half##N loose_half##N __attribute__((aligned(2)));
LOOSE_HALF(2) LOOSE_HALF(4) LOOSE_HALF(8) LOOSE_HALF(16)
#define LOAD_HALF(SPACE, N) \
  OVERLOAD half##N vload##N(size_t i, const SPACE half *p) { return *(const SPACE loose_half##N *)(p + N * i); }
#define STORE_HALF(SPACE, N) \
  OVERLOAD void vstore##N(half##N v, size_t i, SPACE half *p) { *(SPACE loose_half##N *)(p + N * i) = v; }
#define LOADS_HALF(SPACE) LOAD_HALF(SPACE, 2) LOAD_HALF(SPACE, 4) LOAD_HALF(SPACE, 8) LOAD_HALF(SPACE, 16) \
  OVERLOAD half3 vload3(size_t i, const SPACE half *p) { p += 3 * i; return (half3)(*(const SPACE loose_half2 *)p, p[2]); }
#define STORES_HALF(SPACE) STORE_HALF(SPACE, 2) STORE_HALF(SPACE, 4) STORE_HALF(SPACE, 8) STORE_HALF(SPACE, 16) \
  OVERLOAD void vstore3(half3 v, size_t i, SPACE half *p) { p += 3 * i; *(SPACE loose_half2 *)p = v.s01; p[2] = v.s2; }
LOADS_HALF(__private) LOADS_HALF(__local) LOADS_HALF(__global) LOADS_HALF(__constant)
STORES_HALF(__private) STORES_HALF(__local) STORES_HALF(__global)

#define SHUFFLE(M, N) \
  OVERLOAD ushort##N shuffle(ushort##M, ushort##N); \
  OVERLOAD ushort##N shuffle2(ushort##M, ushort##M, ushort##N); \
  OVERLOAD half##N shuffle(half##M x, ushort##N i) { return as_half##N(shuffle(as_ushort##M(x), i)); } \
  OVERLOAD half##N shuffle2(half##M x, half##M y, ushort##N i) { return as_half##N(shuffle2(as_ushort##M(x), as_ushort##M(y), i)); }
#define SHUFFLES(N) SHUFFLE(2, N) SHUFFLE(4, N) SHUFFLE(8, N) SHUFFLE(16, N)
SHUFFLES(2) SHUFFLES(4) SHUFFLES(8) SHUFFLES(16)

// Work-group and sub-group functions.
GROUPS(half, -INFINITY, INFINITY)
static half from_half(half x, uint lane) { return as_half((ushort)__heddle_shuffle(as_ushort(x), lane)); }
SUB_GROUPS(half, -INFINITY, INFINITY)

#include "convert.cl"
