// Built-in functions that libclc's generic library leaves out, in OpenCL C. build.rs compiles this file and links it into the library.
//
// Atomics are sequentially consistent whatever order is asked for: the machine's atomics are.

#define OVERLOAD __attribute__((overloadable))

#include "math.cl"
#include "zeros.cl"
#include "trigonometry.cl"

// ctz(0) is the number of bits: all bits below the lowest set one, counted.
#define CTZ1(T, U) \
  OVERLOAD T ctz(T x) { U u = (U)x; return (T)popcount((U)((u & -u) - (U)1)); }
#define CTZN(T, U, N) \
  OVERLOAD T##N ctz(T##N x) { U##N u = as_##U##N(x); return as_##T##N(popcount((u & -u) - (U##N)((U)1))); }
// The sum wraps around, as elsewhere, though OpenCL C does not say so: a signed one that does not would let LLVM draw conclusions.
#define MAD_HI(T, U) \
  OVERLOAD T mad_hi(T a, T b, T c) { return as_##T((U)(as_##U(mul_hi(a, b)) + as_##U(c))); }
#define ALL(T, U) \
  CTZ1(T, U) CTZN(T, U, 2) CTZN(T, U, 3) CTZN(T, U, 4) CTZN(T, U, 8) CTZN(T, U, 16) \
  MAD_HI(T, U) MAD_HI(T##2, U##2) MAD_HI(T##3, U##3) MAD_HI(T##4, U##4) MAD_HI(T##8, U##8) MAD_HI(T##16, U##16)
ALL(char, uchar)
ALL(uchar, uchar)
ALL(short, ushort)
ALL(ushort, ushort)
ALL(int, uint)
ALL(uint, uint)
ALL(long, ulong)
ALL(ulong, ulong)

// OpenCL C leaves open what numbers beyond 24 bits give. Here that is their product: libclc's version cuts them off first, which takes longer than to
// multiply in 32 bits, and hides what addresses are made of. Of a product of more than 32 bits the low ones are the result.
#define MUL24(T, U) \
  OVERLOAD T mul24(T x, T y) { return as_##T(as_##U(x) * as_##U(y)); } \
  OVERLOAD T mad24(T x, T y, T z) { return as_##T(as_##U(x) * as_##U(y) + as_##U(z)); }
#define MUL24S(T, U) MUL24(T, U) MUL24(T##2, U##2) MUL24(T##3, U##3) MUL24(T##4, U##4) MUL24(T##8, U##8) MUL24(T##16, U##16)
MUL24S(int, uint)
MUL24S(uint, uint)

// libclc's gives the lowest number for 0 minus the lowest.
#define SUB_SAT(T) OVERLOAD T sub_sat(T x, T y) { return __builtin_elementwise_sub_sat(x, y); }
SUB_SAT(int) SUB_SAT(int2) SUB_SAT(int3) SUB_SAT(int4) SUB_SAT(int8) SUB_SAT(int16)
SUB_SAT(long) SUB_SAT(long2) SUB_SAT(long3) SUB_SAT(long4) SUB_SAT(long8) SUB_SAT(long16)

// In 128 bits: libclc's saturates too early.
OVERLOAD long mad_sat(long a, long b, long c) {
  ulong low = (ulong)a * (ulong)b, s = low + (ulong)c;
  long high = mul_hi(a, b) + (s < low) + (c >> 63);
  return high == (long)s >> 63 ? (long)s : high < 0 ? LONG_MIN : LONG_MAX;
}
OVERLOAD long2 mad_sat(long2 a, long2 b, long2 c) { return (long2)(mad_sat(a.x, b.x, c.x), mad_sat(a.y, b.y, c.y)); }
OVERLOAD long3 mad_sat(long3 a, long3 b, long3 c) { return (long3)(mad_sat(a.xy, b.xy, c.xy), mad_sat(a.z, b.z, c.z)); }
OVERLOAD long4 mad_sat(long4 a, long4 b, long4 c) { return (long4)(mad_sat(a.lo, b.lo, c.lo), mad_sat(a.hi, b.hi, c.hi)); }
OVERLOAD long8 mad_sat(long8 a, long8 b, long8 c) { return (long8)(mad_sat(a.lo, b.lo, c.lo), mad_sat(a.hi, b.hi, c.hi)); }
OVERLOAD long16 mad_sat(long16 a, long16 b, long16 c) { return (long16)(mad_sat(a.lo, b.lo, c.lo), mad_sat(a.hi, b.hi, c.hi)); }

// cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics; atom_… of 32 bits.
#define ORDER memory_order_seq_cst, memory_scope_device
#define ATOM(SPACE, T, A) \
  OVERLOAD T atom_add(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_add((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_sub(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_sub((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_xchg(volatile SPACE T *p, T v) { return __opencl_atomic_exchange((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_inc(volatile SPACE T *p) { return __opencl_atomic_fetch_add((volatile SPACE A *)p, (T)1, ORDER); } \
  OVERLOAD T atom_dec(volatile SPACE T *p) { return __opencl_atomic_fetch_sub((volatile SPACE A *)p, (T)1, ORDER); } \
  OVERLOAD T atom_min(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_min((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_max(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_max((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_and(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_and((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_or(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_or((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_xor(volatile SPACE T *p, T v) { return __opencl_atomic_fetch_xor((volatile SPACE A *)p, v, ORDER); } \
  OVERLOAD T atom_cmpxchg(volatile SPACE T *p, T old, T new) { \
    T expected = old; \
    __opencl_atomic_compare_exchange_strong((volatile SPACE A *)p, &expected, new, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device); \
    return expected; \
  }
#define ATOM_BOTH(T, A) ATOM(__global, T, A) ATOM(__local, T, A)
ATOM_BOTH(int, atomic_int)
ATOM_BOTH(uint, atomic_uint)
ATOM_BOTH(long, atomic_long)
ATOM_BOTH(ulong, atomic_ulong)

// OpenCL C 2.0's atomics: plain, with an order, with an order and a scope.
#define FORMS(NAME, BUILTIN, RESULT, SPACE, A, T) \
  OVERLOAD RESULT NAME(volatile SPACE A *p, T v) { return BUILTIN(p, v, ORDER); } \
  OVERLOAD RESULT NAME##_explicit(volatile SPACE A *p, T v, memory_order o) { return BUILTIN(p, v, ORDER); } \
  OVERLOAD RESULT NAME##_explicit(volatile SPACE A *p, T v, memory_order o, memory_scope s) { return BUILTIN(p, v, ORDER); }
#define LOAD(SPACE, A, T) \
  OVERLOAD T atomic_load(volatile SPACE A *p) { return __opencl_atomic_load(p, ORDER); } \
  OVERLOAD T atomic_load_explicit(volatile SPACE A *p, memory_order o) { return __opencl_atomic_load(p, ORDER); } \
  OVERLOAD T atomic_load_explicit(volatile SPACE A *p, memory_order o, memory_scope s) { return __opencl_atomic_load(p, ORDER); }
#define EXCHANGE(NAME, SPACE, A, T, PRIVATE) \
  OVERLOAD bool NAME(volatile SPACE A *p, PRIVATE T *e, T v) { \
    T expected = *e; \
    bool done = __opencl_atomic_compare_exchange_strong(p, &expected, v, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device); \
    *e = expected; \
    return done; \
  } \
  OVERLOAD bool NAME##_explicit(volatile SPACE A *p, PRIVATE T *e, T v, memory_order o, memory_order f) { return NAME(p, e, v); } \
  OVERLOAD bool NAME##_explicit(volatile SPACE A *p, PRIVATE T *e, T v, memory_order o, memory_order f, memory_scope s) { return NAME(p, e, v); }
#define EXCHANGES(SPACE, A, T) \
  EXCHANGE(atomic_compare_exchange_strong, SPACE, A, T, __private) EXCHANGE(atomic_compare_exchange_weak, SPACE, A, T, __private) \
  EXCHANGE(atomic_compare_exchange_strong, SPACE, A, T, __global) EXCHANGE(atomic_compare_exchange_weak, SPACE, A, T, __global) \
  EXCHANGE(atomic_compare_exchange_strong, SPACE, A, T, __local) EXCHANGE(atomic_compare_exchange_weak, SPACE, A, T, __local)
#define BASIC(SPACE, A, T) \
  OVERLOAD void atomic_init(volatile SPACE A *p, T v) { __opencl_atomic_store(p, v, ORDER); } \
  FORMS(atomic_store, __opencl_atomic_store, void, SPACE, A, T) \
  FORMS(atomic_exchange, __opencl_atomic_exchange, T, SPACE, A, T) \
  LOAD(SPACE, A, T) EXCHANGES(SPACE, A, T)
#define INTEGER(SPACE, A, T) \
  BASIC(SPACE, A, T) \
  FORMS(atomic_fetch_add, __opencl_atomic_fetch_add, T, SPACE, A, T) FORMS(atomic_fetch_sub, __opencl_atomic_fetch_sub, T, SPACE, A, T) \
  FORMS(atomic_fetch_or, __opencl_atomic_fetch_or, T, SPACE, A, T) FORMS(atomic_fetch_xor, __opencl_atomic_fetch_xor, T, SPACE, A, T) \
  FORMS(atomic_fetch_and, __opencl_atomic_fetch_and, T, SPACE, A, T) FORMS(atomic_fetch_min, __opencl_atomic_fetch_min, T, SPACE, A, T) \
  FORMS(atomic_fetch_max, __opencl_atomic_fetch_max, T, SPACE, A, T)
// Generic pointers are mangled as private ones.
#define SPACES(WHAT, A, T) WHAT(__global, A, T) WHAT(__local, A, T) WHAT(__private, A, T)
SPACES(INTEGER, atomic_int, int)
SPACES(INTEGER, atomic_uint, uint)
SPACES(INTEGER, atomic_long, long)
SPACES(INTEGER, atomic_ulong, ulong)
// Of numbers as wide as a pointer (atomic_uintptr_t, which is atomic_ulong): what is added is signed, a ptrdiff_t.
#define DISTANCES(SPACE, A, T) \
  FORMS(atomic_fetch_add, __opencl_atomic_fetch_add, ulong, SPACE, A, T) FORMS(atomic_fetch_sub, __opencl_atomic_fetch_sub, ulong, SPACE, A, T)
SPACES(DISTANCES, atomic_ulong, long)
SPACES(BASIC, atomic_float, float)
SPACES(BASIC, atomic_double, double)

#define FLAG(SPACE) \
  OVERLOAD bool atomic_flag_test_and_set(volatile SPACE atomic_flag *p) { return __opencl_atomic_exchange((volatile SPACE atomic_int *)p, 1, ORDER); } \
  OVERLOAD void atomic_flag_clear(volatile SPACE atomic_flag *p) { __opencl_atomic_store((volatile SPACE atomic_int *)p, 0, ORDER); } \
  OVERLOAD bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *p, memory_order o) { return atomic_flag_test_and_set(p); } \
  OVERLOAD bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *p, memory_order o, memory_scope s) { return atomic_flag_test_and_set(p); } \
  OVERLOAD void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order o) { atomic_flag_clear(p); } \
  OVERLOAD void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order o, memory_scope s) { atomic_flag_clear(p); }
FLAG(__global)
FLAG(__local)
FLAG(__private)

OVERLOAD void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order o, memory_scope s) { mem_fence(flags); }

// Work-group functions: every work-item leaves its value in work-group memory. All of them are called by the whole work-group (OpenCL C 6.15.16).
__local ulong *__heddle_group_scratch(void);
#define FIRST_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP(T) \
  static __local T *share_##T(T x) { \
    __local T *s = (__local T *)__heddle_group_scratch(); \
    FIRST_BARRIER; \
    s[get_local_linear_id()] = x; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    return s; \
  } \
  static uint items_##T(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); } \
  OVERLOAD T work_group_broadcast(T x, size_t i) { return share_##T(x)[i]; } \
  OVERLOAD T work_group_broadcast(T x, size_t i, size_t j) { return share_##T(x)[j * get_local_size(0) + i]; } \
  OVERLOAD T work_group_broadcast(T x, size_t i, size_t j, size_t k) { \
    return share_##T(x)[(k * get_local_size(1) + j) * get_local_size(0) + i]; \
  }
#define COMBINE(T, NAME, IDENTITY, EXPRESSION) \
  OVERLOAD T work_group_reduce_##NAME(T x) { \
    __local T *s = share_##T(x); \
    T a = s[0]; \
    for (uint i = 1; i < items_##T(); i++) { T b = s[i]; a = EXPRESSION; } \
    return a; \
  } \
  OVERLOAD T work_group_scan_inclusive_##NAME(T x) { \
    __local T *s = share_##T(x); \
    T a = s[0]; \
    for (uint i = 1; i <= get_local_linear_id(); i++) { T b = s[i]; a = EXPRESSION; } \
    return a; \
  } \
  OVERLOAD T work_group_scan_exclusive_##NAME(T x) { \
    __local T *s = share_##T(x); \
    T a = IDENTITY; \
    for (uint i = 0; i < get_local_linear_id(); i++) { T b = s[i]; a = EXPRESSION; } \
    return a; \
  }
#define GROUPS(T, LOW, HIGH) \
  GROUP(T) COMBINE(T, add, 0, a + b) COMBINE(T, min, HIGH, b < a ? b : a) COMBINE(T, max, LOW, b > a ? b : a)
GROUPS(int, INT_MIN, INT_MAX)
GROUPS(uint, 0, UINT_MAX)
GROUPS(long, LONG_MIN, LONG_MAX)
GROUPS(ulong, 0, ULONG_MAX)
GROUPS(float, -INFINITY, INFINITY)
GROUPS(double, -INFINITY, INFINITY)
OVERLOAD int work_group_all(int x) { return work_group_reduce_min((int)(x != 0)); }
OVERLOAD int work_group_any(int x) { return work_group_reduce_max((int)(x != 0)); }

// Sub-groups are warps. All functions are called by the whole sub-group (6.15.19).
uint __heddle_lane(void);
uint __heddle_warp(void);
uint __heddle_warps(void);
uint __heddle_warp_size(void);
__attribute__((convergent)) uint __heddle_shuffle(uint value, uint lane);
// The lanes, of those that take part, whose value is not 0, a bit each.
__attribute__((convergent)) ulong __heddle_ballot(int value);

OVERLOAD uint get_max_sub_group_size(void) {
  return min(get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2), (size_t)__heddle_warp_size());
}
OVERLOAD uint get_num_sub_groups(void) { return __heddle_warps(); }
OVERLOAD uint get_sub_group_id(void) { return __heddle_warp(); }
OVERLOAD uint get_sub_group_local_id(void) { return __heddle_lane(); }
OVERLOAD uint get_sub_group_size(void) {
  uint items = get_local_size(0) * get_local_size(1) * get_local_size(2), first = __heddle_warp() * __heddle_warp_size();
  return min(items - first, __heddle_warp_size());
}
OVERLOAD uint get_enqueued_num_sub_groups(void) {
  uint items = get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2);
  return (items + __heddle_warp_size() - 1) / __heddle_warp_size();
}
// The lanes of a warp run in step: only memory has to be in order.
OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags) { mem_fence(flags); }
OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags, memory_scope s) { mem_fence(flags); }

#define LANE32(T) \
  static T from_##T(T x, uint lane) { return as_##T(__heddle_shuffle(as_uint(x), lane)); }
#define LANE64(T) \
  static T from_##T(T x, uint lane) { \
    uint2 v = as_uint2(x); \
    return as_##T((uint2)(__heddle_shuffle(v.x, lane), __heddle_shuffle(v.y, lane))); \
  }
LANE32(int) LANE32(uint) LANE32(float) LANE64(long) LANE64(ulong) LANE64(double)
#define SUB_COMBINE(T, NAME, IDENTITY, EXPRESSION) \
  OVERLOAD T sub_group_reduce_##NAME(T x) { \
    T a = from_##T(x, 0); \
    for (uint i = 1; i < get_sub_group_size(); i++) { T b = from_##T(x, i); a = EXPRESSION; } \
    return a; \
  } \
  OVERLOAD T sub_group_scan_inclusive_##NAME(T x) { \
    T a = IDENTITY; \
    for (uint i = 0; i < get_sub_group_size(); i++) { T b = from_##T(x, i); a = i <= __heddle_lane() ? EXPRESSION : a; } \
    return a; \
  } \
  OVERLOAD T sub_group_scan_exclusive_##NAME(T x) { \
    T a = IDENTITY; \
    for (uint i = 0; i < get_sub_group_size(); i++) { T b = from_##T(x, i); a = i < __heddle_lane() ? EXPRESSION : a; } \
    return a; \
  }
#define SUB_GROUPS(T, LOW, HIGH) \
  OVERLOAD T sub_group_broadcast(T x, uint lane) { return from_##T(x, lane); } \
  SUB_COMBINE(T, add, 0, (a + b)) SUB_COMBINE(T, min, HIGH, (b < a ? b : a)) SUB_COMBINE(T, max, LOW, (b > a ? b : a))
SUB_GROUPS(int, INT_MIN, INT_MAX)
SUB_GROUPS(uint, 0, UINT_MAX)
SUB_GROUPS(long, LONG_MIN, LONG_MAX)
SUB_GROUPS(ulong, 0, ULONG_MAX)
SUB_GROUPS(float, -INFINITY, INFINITY)
SUB_GROUPS(double, -INFINITY, INFINITY)
OVERLOAD int sub_group_all(int x) { return __heddle_ballot(x == 0) == 0; }
OVERLOAD int sub_group_any(int x) { return __heddle_ballot(x) != 0; }

// cl_khr_fp16, which libclc's generic library does not have: by way of single precision, whose result is rounded once more. Exact where the result is a half anyway, correctly
// rounded for square roots and quotients, within an ulp of the float function elsewhere.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define WIDEN(F, x) __builtin_convertvector(x, F)
// A definition hides clang's own declarations of the name, so the float functions are declared again.
#define HALF_UNARY_N(NAME, N) OVERLOAD float##N NAME(float##N); OVERLOAD half##N NAME(half##N x) { return __builtin_convertvector(NAME(WIDEN(float##N, x)), half##N); }
#define HALF_BINARY_N(NAME, N) \
  OVERLOAD float##N NAME(float##N, float##N); \
  OVERLOAD half##N NAME(half##N x, half##N y) { return __builtin_convertvector(NAME(WIDEN(float##N, x), WIDEN(float##N, y)), half##N); }
#define HALF_TERNARY_N(NAME, N) \
  OVERLOAD float##N NAME(float##N, float##N, float##N); \
  OVERLOAD half##N NAME(half##N x, half##N y, half##N z) { \
    return __builtin_convertvector(NAME(WIDEN(float##N, x), WIDEN(float##N, y), WIDEN(float##N, z)), half##N); \
  }
#define VECTORS(WHAT, NAME) WHAT(NAME, 2) WHAT(NAME, 3) WHAT(NAME, 4) WHAT(NAME, 8) WHAT(NAME, 16)
#define HALF_UNARY(NAME) OVERLOAD float NAME(float); OVERLOAD half NAME(half x) { return (half)NAME((float)x); } VECTORS(HALF_UNARY_N, NAME)
#define HALF_BINARY(NAME) OVERLOAD float NAME(float, float); OVERLOAD half NAME(half x, half y) { return (half)NAME((float)x, (float)y); } VECTORS(HALF_BINARY_N, NAME)
#define HALF_TERNARY(NAME) \
  OVERLOAD float NAME(float, float, float); \
  OVERLOAD half NAME(half x, half y, half z) { return (half)NAME((float)x, (float)y, (float)z); } VECTORS(HALF_TERNARY_N, NAME)
HALF_UNARY(acos) HALF_UNARY(acosh) HALF_UNARY(acospi) HALF_UNARY(asin) HALF_UNARY(asinh) HALF_UNARY(asinpi) HALF_UNARY(atan)
HALF_UNARY(atanh) HALF_UNARY(atanpi) HALF_UNARY(cbrt) HALF_UNARY(ceil) HALF_UNARY(cos) HALF_UNARY(cosh) HALF_UNARY(cospi)
HALF_UNARY(erf) HALF_UNARY(erfc) HALF_UNARY(exp) HALF_UNARY(exp2) HALF_UNARY(exp10) HALF_UNARY(expm1) HALF_UNARY(fabs)
HALF_UNARY(floor) HALF_UNARY(lgamma) HALF_UNARY(log) HALF_UNARY(log2) HALF_UNARY(log10) HALF_UNARY(log1p) HALF_UNARY(logb)
HALF_UNARY(rint) HALF_UNARY(round) HALF_UNARY(rsqrt) HALF_UNARY(sin) HALF_UNARY(sinh) HALF_UNARY(sinpi) HALF_UNARY(sqrt)
HALF_UNARY(tan) HALF_UNARY(tanh) HALF_UNARY(tanpi) HALF_UNARY(tgamma) HALF_UNARY(trunc) HALF_UNARY(degrees) HALF_UNARY(radians) HALF_UNARY(sign)
HALF_BINARY(atan2) HALF_BINARY(atan2pi) HALF_BINARY(copysign) HALF_BINARY(fdim) HALF_BINARY(fmax) HALF_BINARY(fmin) HALF_BINARY(fmod)
HALF_BINARY(hypot) HALF_BINARY(max) HALF_BINARY(min) HALF_BINARY(pow) HALF_BINARY(powr) HALF_BINARY(remainder) HALF_BINARY(step)
HALF_TERNARY(clamp) HALF_TERNARY(mad) HALF_TERNARY(mix) HALF_TERNARY(smoothstep)
// One rounding: the machine has it on halves.
#define HALF_FMA_N(NAME, N) OVERLOAD half##N fma(half##N x, half##N y, half##N z) { return __builtin_elementwise_fma(x, y, z); }
OVERLOAD half fma(half x, half y, half z) { return __builtin_elementwise_fma(x, y, z); }
VECTORS(HALF_FMA_N, fma)

// prefetch: a line at a time into L2, "the global cache". The machine's longest line is 256 bytes, its usual one 128.
void __heddle_prefetch_2(const __global void *p);
#define PREFETCH(T) \
  OVERLOAD void prefetch(const __global T *p, size_t n) { \
    for (size_t b = 0; b < n * sizeof(T); b += 128) \
      __heddle_prefetch_2((const __global char *)p + b); \
  }
#define PREFETCHES(T) PREFETCH(T) PREFETCH(T##2) PREFETCH(T##3) PREFETCH(T##4) PREFETCH(T##8) PREFETCH(T##16)
PREFETCHES(char)
PREFETCHES(uchar)
PREFETCHES(short)
PREFETCHES(ushort)
PREFETCHES(int)
PREFETCHES(uint)
PREFETCHES(long)
PREFETCHES(ulong)
PREFETCHES(float)
PREFETCHES(double)
PREFETCHES(half)

// Copies of types that libclc leaves out, as copies of the same bytes, in vectors, which may alias everything. A vector of 3 takes the room
// of 4, and is copied like one.
#define COPY(H, U) \
  OVERLOAD event_t async_work_group_copy(__local U *, const __global U *, size_t, event_t); \
  OVERLOAD event_t async_work_group_copy(__global U *, const __local U *, size_t, event_t); \
  OVERLOAD event_t async_work_group_strided_copy(__local U *, const __global U *, size_t, size_t, event_t); \
  OVERLOAD event_t async_work_group_strided_copy(__global U *, const __local U *, size_t, size_t, event_t); \
  OVERLOAD event_t async_work_group_copy(__local H *d, const __global H *s, size_t n, event_t e) { \
    return async_work_group_copy((__local U *)d, (const __global U *)s, n, e); \
  } \
  OVERLOAD event_t async_work_group_copy(__global H *d, const __local H *s, size_t n, event_t e) { \
    return async_work_group_copy((__global U *)d, (const __local U *)s, n, e); \
  } \
  OVERLOAD event_t async_work_group_strided_copy(__local H *d, const __global H *s, size_t n, size_t t, event_t e) { \
    return async_work_group_strided_copy((__local U *)d, (const __global U *)s, n, t, e); \
  } \
  OVERLOAD event_t async_work_group_strided_copy(__global H *d, const __local H *s, size_t n, size_t t, event_t e) { \
    return async_work_group_strided_copy((__global U *)d, (const __local U *)s, n, t, e); \
  }
COPY(half, char2) COPY(half2, ushort2) COPY(half3, ushort4) COPY(half4, ushort4) COPY(half8, ushort8) COPY(half16, ushort16)
COPY(char3, char4) COPY(uchar3, uchar4) COPY(short3, short4) COPY(ushort3, ushort4) COPY(int3, int4) COPY(uint3, uint4)
COPY(long3, long4) COPY(ulong3, ulong4) COPY(float3, float4) COPY(double3, double4)

// libclc has smoothstep with scalar edges of floats only.
#define SMOOTHSTEP(T) \
  OVERLOAD T smoothstep(T low, T high, T x); \
  OVERLOAD T smoothstep(double low, double high, T x) { return smoothstep((T)low, (T)high, x); }
SMOOTHSTEP(double2) SMOOTHSTEP(double3) SMOOTHSTEP(double4) SMOOTHSTEP(double8) SMOOTHSTEP(double16)

#include "half.cl"
#include "images.cl"
#include "subgroups.cl"
#include "ballot.cl"
#include "shuffle.cl"
#include "bits.cl"

// Last, since a definition hides what clang declares of the same name.
#include "common.cl"
