// Device code of CUDA and HIP on Heddle: what heddle_cuda.h and heddle_hip.h have in common. Both are included before the
// first line of a source. What a function does stands in the CUDA C++ Programming Guide and the CUDA Math API; how it is done
// here is that of OpenCL C's built-in library, whose functions are called by their mangled names.
#pragma once

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__

typedef __SIZE_TYPE__ size_t;
// As the C library's headers have them, which CUDA's include.
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
#ifndef NULL
#define NULL __null
#endif
// clang's own.
#include <limits.h>

// Declares a function of the built-in library by its mangled name.
#define __HEDDLE_DECLARE(result, name, arguments, symbol) extern "C" __device__ result name arguments __asm__(symbol)
#define __HEDDLE_VALUE(result, name, arguments, symbol) \
  extern "C" __device__ __attribute__((const)) result name arguments __asm__(symbol)
#define __HEDDLE_INLINE static inline __device__ __attribute__((always_inline))

// --- Work-items. ---

__HEDDLE_VALUE(unsigned long, __heddle_local_id, (unsigned), "_Z12get_local_idj");
__HEDDLE_VALUE(unsigned long, __heddle_group_id, (unsigned), "_Z12get_group_idj");
__HEDDLE_VALUE(unsigned long, __heddle_local_size, (unsigned), "_Z14get_local_sizej");
__HEDDLE_VALUE(unsigned long, __heddle_num_groups, (unsigned), "_Z14get_num_groupsj");
__HEDDLE_VALUE(unsigned, __heddle_lane, (void), "__heddle_lane");
__HEDDLE_VALUE(unsigned, __heddle_warp_size, (void), "__heddle_warp_size");
__HEDDLE_DECLARE(unsigned, __heddle_shuffle, (unsigned, unsigned), "__heddle_shuffle");
__HEDDLE_DECLARE(unsigned long, __heddle_ballot, (int), "__heddle_ballot");
__HEDDLE_DECLARE(unsigned, __heddle_clock, (void), "__heddle_clock");
__HEDDLE_DECLARE(void, __heddle_barrier, (unsigned), "_Z7barrierj");
__HEDDLE_DECLARE(void, __heddle_fence, (unsigned), "_Z9mem_fencej");
__HEDDLE_DECLARE(int, __heddle_group_all, (int), "_Z14work_group_alli");
__HEDDLE_DECLARE(int, __heddle_group_any, (int), "_Z14work_group_anyi");
__HEDDLE_DECLARE(int, __heddle_group_sum, (int), "_Z21work_group_reduce_addi");
extern "C" __device__ int printf(const char *, ...);

struct uint3;
struct dim3;

#define __HEDDLE_INDEX(name, query) \
  struct __heddle_##name { \
    __declspec(property(get = __x)) unsigned x; \
    __declspec(property(get = __y)) unsigned y; \
    __declspec(property(get = __z)) unsigned z; \
    __HEDDLE_METHOD unsigned __x() const { return (unsigned)query(0); } \
    __HEDDLE_METHOD unsigned __y() const { return (unsigned)query(1); } \
    __HEDDLE_METHOD unsigned __z() const { return (unsigned)query(2); } \
    __HEDDLE_METHOD operator dim3() const; \
    __HEDDLE_METHOD operator uint3() const; \
  }; \
  static const __device__ __heddle_##name name = {}
#define __HEDDLE_METHOD inline __device__ __attribute__((always_inline))

__HEDDLE_INDEX(threadIdx, __heddle_local_id);
__HEDDLE_INDEX(blockIdx, __heddle_group_id);
__HEDDLE_INDEX(blockDim, __heddle_local_size);
__HEDDLE_INDEX(gridDim, __heddle_num_groups);

struct __heddle_warp_size_t {
  __HEDDLE_METHOD operator int() const { return (int)__heddle_warp_size(); }
};
static const __device__ __heddle_warp_size_t warpSize = {};

// --- Vector types: structures with the alignment that CUDA gives them. ---

#define __HEDDLE_VECTOR(T, name, align2, align4) \
  struct name##1 { T x; }; \
  struct __attribute__((aligned(align2))) name##2 { T x, y; }; \
  struct name##3 { T x, y, z; }; \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; }; \
  static inline __host__ __device__ name##1 make_##name##1(T x) { return {x}; } \
  static inline __host__ __device__ name##2 make_##name##2(T x, T y) { return {x, y}; } \
  static inline __host__ __device__ name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline __host__ __device__ name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
__HEDDLE_VECTOR(signed char, char, 2, 4)
__HEDDLE_VECTOR(unsigned char, uchar, 2, 4)
__HEDDLE_VECTOR(short, short, 4, 8)
__HEDDLE_VECTOR(unsigned short, ushort, 4, 8)
__HEDDLE_VECTOR(int, int, 8, 16)
__HEDDLE_VECTOR(unsigned, uint, 8, 16)
__HEDDLE_VECTOR(long, long, 16, 16)
__HEDDLE_VECTOR(unsigned long, ulong, 16, 16)
__HEDDLE_VECTOR(long long, longlong, 16, 16)
__HEDDLE_VECTOR(unsigned long long, ulonglong, 16, 16)
__HEDDLE_VECTOR(float, float, 8, 16)
__HEDDLE_VECTOR(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

#define __HEDDLE_CONVERSIONS(name) \
  __HEDDLE_METHOD __heddle_##name::operator dim3() const { return dim3(x, y, z); } \
  __HEDDLE_METHOD __heddle_##name::operator uint3() const { return uint3{x, y, z}; }
__HEDDLE_CONVERSIONS(threadIdx)
__HEDDLE_CONVERSIONS(blockIdx)
__HEDDLE_CONVERSIONS(blockDim)
__HEDDLE_CONVERSIONS(gridDim)

// --- Barriers and fences. Flags: 1 local, 2 global memory. ---

// A macro, because clang has a function of this name for another machine.
#define __syncthreads() __heddle_barrier(3)
__HEDDLE_INLINE int __syncthreads_and(int predicate) { return __heddle_group_all(predicate != 0); }
__HEDDLE_INLINE int __syncthreads_or(int predicate) { return __heddle_group_any(predicate != 0); }
__HEDDLE_INLINE int __syncthreads_count(int predicate) { return __heddle_group_sum(predicate != 0); }
__HEDDLE_INLINE void __threadfence() { __heddle_fence(3); }
__HEDDLE_INLINE void __threadfence_block() { __heddle_fence(3); }
__HEDDLE_INLINE void __threadfence_system() { __heddle_fence(3); }

// --- Warps. Lanes that are named in a mask have come together, as the machine's lanes do. ---

__HEDDLE_INLINE unsigned long __heddle_active() { return __heddle_ballot(1); }

__HEDDLE_INLINE unsigned __heddle_bits(int v) { return (unsigned)v; }
__HEDDLE_INLINE unsigned __heddle_bits(unsigned v) { return v; }
__HEDDLE_INLINE unsigned __heddle_bits(float v) { return __builtin_bit_cast(unsigned, v); }

// The value of another lane, word by word.
template <class T> __HEDDLE_INLINE T __heddle_from(T value, unsigned lane) {
  static_assert(sizeof(T) <= 4 || sizeof(T) % 4 == 0, "a value of so many bytes cannot be exchanged between lanes");
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __heddle_shuffle(__builtin_bit_cast(unsigned, value), lane));
  } else if constexpr (sizeof(T) == 8) {
    unsigned long bits = __builtin_bit_cast(unsigned long, value);
    unsigned long low = __heddle_shuffle((unsigned)bits, lane), high = __heddle_shuffle((unsigned)(bits >> 32), lane);
    return __builtin_bit_cast(T, low | high << 32);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, (unsigned short)__heddle_shuffle(__builtin_bit_cast(unsigned short, value), lane));
  } else if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(T, (unsigned char)__heddle_shuffle(__builtin_bit_cast(unsigned char, value), lane));
  } else {
    struct Words { unsigned word[sizeof(T) / 4]; };
    Words words = __builtin_bit_cast(Words, value);
    for (unsigned &word : words.word) word = __heddle_shuffle(word, lane);
    return __builtin_bit_cast(T, words);
  }
}

// Which lane each shuffle reads, in a segment of `width` lanes; a lane outside it is the reader's own.
__HEDDLE_INLINE unsigned __heddle_indexed(int source, int width) {
  unsigned lane = __heddle_lane(), inside = (unsigned)width - 1;
  return (lane & ~inside) | ((unsigned)source & inside);
}
__HEDDLE_INLINE unsigned __heddle_above(unsigned delta, int width) {
  unsigned lane = __heddle_lane();
  return (lane & ((unsigned)width - 1)) < delta ? lane : lane - delta;
}
__HEDDLE_INLINE unsigned __heddle_below(unsigned delta, int width) {
  unsigned lane = __heddle_lane(), inside = (unsigned)width - 1;
  return (lane & inside) + delta > inside ? lane : lane + delta;
}
__HEDDLE_INLINE unsigned __heddle_crossed(int mask, int width) {
  unsigned lane = __heddle_lane(), other = lane ^ (unsigned)mask;
  return other > (lane | ((unsigned)width - 1)) ? lane : other;
}

// --- Bits and integers. ---

__HEDDLE_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
__HEDDLE_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__HEDDLE_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
__HEDDLE_INLINE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
__HEDDLE_INLINE int __ffs(int x) { return x == 0 ? 0 : __builtin_ctz((unsigned)x) + 1; }
__HEDDLE_INLINE int __ffsll(long long x) { return x == 0 ? 0 : __builtin_ctzll((unsigned long long)x) + 1; }
__HEDDLE_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__HEDDLE_INLINE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
__HEDDLE_INLINE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
__HEDDLE_INLINE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
__HEDDLE_VALUE(long, __heddle_mul_hi, (long, long), "_Z6mul_hill");
__HEDDLE_VALUE(unsigned long, __heddle_umul_hi, (unsigned long, unsigned long), "_Z6mul_himm");
__HEDDLE_INLINE long long __mul64hi(long long x, long long y) { return __heddle_mul_hi(x, y); }
__HEDDLE_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return __heddle_umul_hi(x, y); }
__HEDDLE_INLINE int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
__HEDDLE_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
__HEDDLE_INLINE unsigned __sad(int x, int y, unsigned z) { return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x); }
__HEDDLE_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
__HEDDLE_INLINE int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
__HEDDLE_INLINE int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
__HEDDLE_INLINE unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
__HEDDLE_INLINE unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }
__HEDDLE_INLINE unsigned __heddle_joined(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long)high << 32 | low) >> shift));
}
__HEDDLE_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) { return __heddle_joined(low, high, shift & 31); }
__HEDDLE_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) { return shift >= 32 ? high : __heddle_joined(low, high, shift); }
__HEDDLE_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __heddle_joined(low, high, 32 - (shift & 31));
}
__HEDDLE_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) { return shift >= 32 ? low : __funnelshift_l(low, high, shift); }
__HEDDLE_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long bytes = (unsigned long)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) result |= (unsigned)(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
  return result;
}
__HEDDLE_INLINE int __dp4a(int x, int y, int sum) {
  for (int i = 0; i < 4; i++) sum += (signed char)(x >> 8 * i) * (signed char)(y >> 8 * i);
  return sum;
}
__HEDDLE_INLINE unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
  for (int i = 0; i < 4; i++) sum += (x >> 8 * i & 255) * (y >> 8 * i & 255);
  return sum;
}

// --- Bits of numbers, conversions. ---

__HEDDLE_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__HEDDLE_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__HEDDLE_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__HEDDLE_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__HEDDLE_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__HEDDLE_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__HEDDLE_INLINE int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long, x) >> 32); }
__HEDDLE_INLINE int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long, x); }
__HEDDLE_INLINE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long)(unsigned)high << 32 | (unsigned)low);
}

#define __HEDDLE_CONVERT(from, letter, to, sign, name) \
  __HEDDLE_VALUE(to, __heddle_##from##2##name##_rte, (from), "_Z" sign "_rte" letter); \
  __HEDDLE_VALUE(to, __heddle_##from##2##name##_rtz, (from), "_Z" sign "_rtz" letter); \
  __HEDDLE_VALUE(to, __heddle_##from##2##name##_rtp, (from), "_Z" sign "_rtp" letter); \
  __HEDDLE_VALUE(to, __heddle_##from##2##name##_rtn, (from), "_Z" sign "_rtn" letter); \
  __HEDDLE_INLINE to __##from##2##name##_rn(from x) { return __heddle_##from##2##name##_rte(x); } \
  __HEDDLE_INLINE to __##from##2##name##_rz(from x) { return __heddle_##from##2##name##_rtz(x); } \
  __HEDDLE_INLINE to __##from##2##name##_ru(from x) { return __heddle_##from##2##name##_rtp(x); } \
  __HEDDLE_INLINE to __##from##2##name##_rd(from x) { return __heddle_##from##2##name##_rtn(x); }
__HEDDLE_CONVERT(float, "f", int, "15convert_int", int)
__HEDDLE_CONVERT(float, "f", unsigned, "16convert_uint", uint)
__HEDDLE_CONVERT(float, "f", long, "16convert_long", ll)
__HEDDLE_CONVERT(float, "f", unsigned long, "17convert_ulong", ull)
__HEDDLE_CONVERT(double, "d", int, "15convert_int", int)
__HEDDLE_CONVERT(double, "d", unsigned, "16convert_uint", uint)
__HEDDLE_CONVERT(double, "d", long, "16convert_long", ll)
__HEDDLE_CONVERT(double, "d", unsigned long, "17convert_ulong", ull)
__HEDDLE_INLINE float __int2float_rn(int x) { return (float)x; }
__HEDDLE_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
__HEDDLE_INLINE float __ll2float_rn(long long x) { return (float)x; }
__HEDDLE_INLINE float __ull2float_rn(unsigned long long x) { return (float)x; }
__HEDDLE_INLINE double __int2double_rn(int x) { return x; }
__HEDDLE_INLINE double __uint2double_rn(unsigned x) { return x; }
__HEDDLE_INLINE double __ll2double_rn(long long x) { return (double)x; }
__HEDDLE_INLINE double __ull2double_rn(unsigned long long x) { return (double)x; }
__HEDDLE_INLINE float __double2float_rn(double x) { return (float)x; }

// --- Mathematics. ---

#define __HEDDLE_MATH1(name, length) \
  __HEDDLE_VALUE(float, __heddle_##name##f, (float), "_Z" #length #name "f"); \
  __HEDDLE_VALUE(double, __heddle_##name, (double), "_Z" #length #name "d"); \
  __HEDDLE_INLINE float name##f(float x) { return __heddle_##name##f(x); } \
  __HEDDLE_INLINE float name(float x) { return __heddle_##name##f(x); } \
  __HEDDLE_INLINE double name(double x) { return __heddle_##name(x); }
#define __HEDDLE_MATH2(name, cl, length) \
  __HEDDLE_VALUE(float, __heddle_##name##f, (float, float), "_Z" #length #cl "ff"); \
  __HEDDLE_VALUE(double, __heddle_##name, (double, double), "_Z" #length #cl "dd"); \
  __HEDDLE_INLINE float name##f(float x, float y) { return __heddle_##name##f(x, y); } \
  __HEDDLE_INLINE float name(float x, float y) { return __heddle_##name##f(x, y); } \
  __HEDDLE_INLINE double name(double x, double y) { return __heddle_##name(x, y); }
__HEDDLE_MATH1(sin, 3) __HEDDLE_MATH1(cos, 3) __HEDDLE_MATH1(tan, 3) __HEDDLE_MATH1(asin, 4) __HEDDLE_MATH1(acos, 4)
__HEDDLE_MATH1(atan, 4) __HEDDLE_MATH1(sinh, 4) __HEDDLE_MATH1(cosh, 4) __HEDDLE_MATH1(tanh, 4) __HEDDLE_MATH1(asinh, 5)
__HEDDLE_MATH1(acosh, 5) __HEDDLE_MATH1(atanh, 5) __HEDDLE_MATH1(exp, 3) __HEDDLE_MATH1(exp2, 4) __HEDDLE_MATH1(exp10, 5)
__HEDDLE_MATH1(expm1, 5) __HEDDLE_MATH1(log, 3) __HEDDLE_MATH1(log2, 4) __HEDDLE_MATH1(log10, 5) __HEDDLE_MATH1(log1p, 5)
__HEDDLE_MATH1(logb, 4) __HEDDLE_MATH1(sqrt, 4) __HEDDLE_MATH1(rsqrt, 5) __HEDDLE_MATH1(cbrt, 4) __HEDDLE_MATH1(erf, 3)
__HEDDLE_MATH1(erfc, 4) __HEDDLE_MATH1(tgamma, 6) __HEDDLE_MATH1(lgamma, 6) __HEDDLE_MATH1(ceil, 4) __HEDDLE_MATH1(floor, 5)
__HEDDLE_MATH1(trunc, 5) __HEDDLE_MATH1(round, 5) __HEDDLE_MATH1(rint, 4) __HEDDLE_MATH1(fabs, 4) __HEDDLE_MATH1(sinpi, 5)
__HEDDLE_MATH1(cospi, 5)
__HEDDLE_MATH2(pow, pow, 3) __HEDDLE_MATH2(atan2, atan2, 5) __HEDDLE_MATH2(fmod, fmod, 4) __HEDDLE_MATH2(fmin, fmin, 4)
__HEDDLE_MATH2(fmax, fmax, 4) __HEDDLE_MATH2(fdim, fdim, 4) __HEDDLE_MATH2(hypot, hypot, 5) __HEDDLE_MATH2(copysign, copysign, 8)
__HEDDLE_MATH2(nextafter, nextafter, 9) __HEDDLE_MATH2(remainder, remainder, 9)

__HEDDLE_VALUE(float, __heddle_fmaf, (float, float, float), "_Z3fmafff");
__HEDDLE_VALUE(double, __heddle_fma, (double, double, double), "_Z3fmaddd");
__HEDDLE_VALUE(float, __heddle_ldexpf, (float, int), "_Z5ldexpfi");
__HEDDLE_VALUE(double, __heddle_ldexp, (double, int), "_Z5ldexpdi");
__HEDDLE_INLINE float fmaf(float x, float y, float z) { return __heddle_fmaf(x, y, z); }
__HEDDLE_INLINE float fma(float x, float y, float z) { return __heddle_fmaf(x, y, z); }
__HEDDLE_INLINE double fma(double x, double y, double z) { return __heddle_fma(x, y, z); }
__HEDDLE_INLINE float ldexpf(float x, int n) { return __heddle_ldexpf(x, n); }
__HEDDLE_INLINE float ldexp(float x, int n) { return __heddle_ldexpf(x, n); }
__HEDDLE_INLINE double ldexp(double x, int n) { return __heddle_ldexp(x, n); }
__HEDDLE_INLINE float scalbnf(float x, int n) { return __heddle_ldexpf(x, n); }
__HEDDLE_INLINE float nearbyintf(float x) { return rintf(x); }
__HEDDLE_INLINE double nearbyint(double x) { return rint(x); }
__HEDDLE_INLINE int lrintf(float x) { return (int)rintf(x); }
__HEDDLE_INLINE int lroundf(float x) { return (int)roundf(x); }
__HEDDLE_INLINE float powif(float x, int n) { return powf(x, (float)n); }
__HEDDLE_INLINE float normf(int n, const float *v) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum = fmaf(v[i], v[i], sum);
  return sqrtf(sum);
}
__HEDDLE_INLINE float norm3df(float x, float y, float z) { return sqrtf(fmaf(x, x, fmaf(y, y, z * z))); }
__HEDDLE_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
__HEDDLE_INLINE void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
__HEDDLE_INLINE void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
__HEDDLE_INLINE void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
__HEDDLE_INLINE float modff(float x, float *whole) { *whole = truncf(x); return copysignf(x == *whole || __builtin_isinf(x) ? 0.0f : x - *whole, x); }
__HEDDLE_INLINE float frexpf(float x, int *exponent) {
  if (x == 0 || !__builtin_isfinite(x)) { *exponent = 0; return x; }
  *exponent = (int)logbf(x) + 1;
  return ldexpf(x, -*exponent);
}
__HEDDLE_INLINE float saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
__HEDDLE_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
__HEDDLE_INLINE int abs(int x) { return x < 0 ? -x : x; }
__HEDDLE_INLINE long labs(long x) { return x < 0 ? -x : x; }
__HEDDLE_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }
__HEDDLE_INLINE float abs(float x) { return fabsf(x); }
__HEDDLE_INLINE double abs(double x) { return fabs(x); }

#define __HEDDLE_LEAST(T) \
  __HEDDLE_INLINE T min(T x, T y) { return y < x ? y : x; } \
  __HEDDLE_INLINE T max(T x, T y) { return x < y ? y : x; }
__HEDDLE_LEAST(int) __HEDDLE_LEAST(unsigned) __HEDDLE_LEAST(long) __HEDDLE_LEAST(unsigned long) __HEDDLE_LEAST(long long)
__HEDDLE_LEAST(unsigned long long)
// Of two types the one to which both are converted.
#define __HEDDLE_MIXED(T, U, V) \
  __HEDDLE_INLINE V min(T x, U y) { return min((V)x, (V)y); } \
  __HEDDLE_INLINE V min(U x, T y) { return min((V)x, (V)y); } \
  __HEDDLE_INLINE V max(T x, U y) { return max((V)x, (V)y); } \
  __HEDDLE_INLINE V max(U x, T y) { return max((V)x, (V)y); }
__HEDDLE_MIXED(int, unsigned, unsigned) __HEDDLE_MIXED(long, unsigned long, unsigned long)
__HEDDLE_MIXED(long long, unsigned long long, unsigned long long)
__HEDDLE_INLINE float min(float x, float y) { return fminf(x, y); }
__HEDDLE_INLINE float max(float x, float y) { return fmaxf(x, y); }
__HEDDLE_INLINE double min(double x, double y) { return fmin(x, y); }
__HEDDLE_INLINE double max(double x, double y) { return fmax(x, y); }
__HEDDLE_MIXED(float, double, double)

#define __HEDDLE_CLASS(name) \
  __HEDDLE_INLINE bool name(float x) { return __builtin_##name(x); } \
  __HEDDLE_INLINE bool name(double x) { return __builtin_##name(x); }
__HEDDLE_CLASS(isnan) __HEDDLE_CLASS(isinf) __HEDDLE_CLASS(isfinite) __HEDDLE_CLASS(signbit)
#undef __HEDDLE_CLASS

// Fast versions: those that OpenCL C calls native.
#define __HEDDLE_NATIVE(name, cl, length) \
  __HEDDLE_VALUE(float, __heddle_native_##cl, (float), "_Z" #length "native_" #cl "f"); \
  __HEDDLE_INLINE float name(float x) { return __heddle_native_##cl(x); }
__HEDDLE_NATIVE(__sinf, sin, 10) __HEDDLE_NATIVE(__cosf, cos, 10) __HEDDLE_NATIVE(__tanf, tan, 10)
__HEDDLE_NATIVE(__expf, exp, 10) __HEDDLE_NATIVE(__exp10f, exp10, 12) __HEDDLE_NATIVE(__logf, log, 10)
__HEDDLE_NATIVE(__log2f, log2, 11) __HEDDLE_NATIVE(__log10f, log10, 12)
__HEDDLE_INLINE void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); }
__HEDDLE_INLINE float __powf(float x, float y) { return exp2f(y * __log2f(x)); }
__HEDDLE_VALUE(float, __heddle_divide, (float, float), "_Z13native_divideff");
__HEDDLE_INLINE float __fdividef(float x, float y) { return __heddle_divide(x, y); }
__HEDDLE_INLINE float fdividef(float x, float y) { return x / y; }

// Rounded to nearest, and never part of a multiplication and addition in one.
#define __HEDDLE_ROUNDED(T, prefix) \
  __HEDDLE_INLINE T prefix##add_rn(T x, T y) { _Pragma("clang fp contract(off)") return x + y; } \
  __HEDDLE_INLINE T prefix##sub_rn(T x, T y) { _Pragma("clang fp contract(off)") return x - y; } \
  __HEDDLE_INLINE T prefix##mul_rn(T x, T y) { _Pragma("clang fp contract(off)") return x * y; } \
  __HEDDLE_INLINE T prefix##div_rn(T x, T y) { return x / y; }
__HEDDLE_ROUNDED(float, __f)
__HEDDLE_ROUNDED(double, __d)
__HEDDLE_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
__HEDDLE_INLINE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
__HEDDLE_INLINE float __frcp_rn(float x) { return 1.0f / x; }
__HEDDLE_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
__HEDDLE_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }
__HEDDLE_INLINE double __drcp_rn(double x) { return 1.0 / x; }
__HEDDLE_INLINE double __dsqrt_rn(double x) { return sqrt(x); }

// --- Atomics: relaxed, for the whole device. The machine's are the same for every scope. ---

#define __HEDDLE_ATOMIC(name, T, operation) \
  __HEDDLE_INLINE T name(T *p, T v) { return operation(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); } \
  __HEDDLE_INLINE T name##_block(T *p, T v) { return name(p, v); } \
  __HEDDLE_INLINE T name##_system(T *p, T v) { return name(p, v); }
#define __HEDDLE_ATOMICS(T) \
  __HEDDLE_ATOMIC(atomicAdd, T, __scoped_atomic_fetch_add) __HEDDLE_ATOMIC(atomicSub, T, __scoped_atomic_fetch_sub) \
  __HEDDLE_ATOMIC(atomicExch, T, __scoped_atomic_exchange_n) __HEDDLE_ATOMIC(atomicMin, T, __scoped_atomic_fetch_min) \
  __HEDDLE_ATOMIC(atomicMax, T, __scoped_atomic_fetch_max) __HEDDLE_ATOMIC(atomicAnd, T, __scoped_atomic_fetch_and) \
  __HEDDLE_ATOMIC(atomicOr, T, __scoped_atomic_fetch_or) __HEDDLE_ATOMIC(atomicXor, T, __scoped_atomic_fetch_xor) \
  __HEDDLE_INLINE T atomicCAS(T *p, T expected, T desired) { \
    __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
    return expected; \
  } \
  __HEDDLE_INLINE T atomicCAS_block(T *p, T expected, T desired) { return atomicCAS(p, expected, desired); } \
  __HEDDLE_INLINE T atomicCAS_system(T *p, T expected, T desired) { return atomicCAS(p, expected, desired); }
__HEDDLE_ATOMICS(int)
__HEDDLE_ATOMICS(unsigned)
__HEDDLE_ATOMICS(long)
__HEDDLE_ATOMICS(unsigned long)
__HEDDLE_ATOMICS(long long)
__HEDDLE_ATOMICS(unsigned long long)
__HEDDLE_ATOMIC(atomicAdd, float, __scoped_atomic_fetch_add)
__HEDDLE_ATOMIC(atomicAdd, double, __scoped_atomic_fetch_add)
__HEDDLE_ATOMIC(atomicMin, float, __scoped_atomic_fetch_min)
__HEDDLE_ATOMIC(atomicMax, float, __scoped_atomic_fetch_max)
__HEDDLE_INLINE float atomicExch(float *p, float v) { return __int_as_float(atomicExch((int *)p, __float_as_int(v))); }

#define __HEDDLE_WRAPPED(name, next) \
  __HEDDLE_INLINE unsigned name(unsigned *p, unsigned most) { \
    unsigned seen = *(volatile unsigned *)p, old; \
    do { old = seen; seen = atomicCAS(p, old, next); } while (seen != old); \
    return old; \
  }
__HEDDLE_WRAPPED(atomicInc, old >= most ? 0 : old + 1)
__HEDDLE_WRAPPED(atomicDec, old == 0 || old > most ? most : old - 1)

// --- Memory that is only read, hints of caches. ---

// Structures (`float4`, `__half2`) are accessed as the integers or vectors of their size.
template <unsigned bytes> struct __heddle_piece;
#define __HEDDLE_PIECE(bytes, T) template <> struct __heddle_piece<bytes> { typedef T type __attribute__((may_alias)); };
typedef unsigned __heddle_uint2 __attribute__((ext_vector_type(2)));
typedef unsigned __heddle_uint4 __attribute__((ext_vector_type(4)));
__HEDDLE_PIECE(1, unsigned char) __HEDDLE_PIECE(2, unsigned short) __HEDDLE_PIECE(4, unsigned) __HEDDLE_PIECE(8, __heddle_uint2)
__HEDDLE_PIECE(16, __heddle_uint4)
#undef __HEDDLE_PIECE
template <class T, bool structure = __is_class(T)> struct __heddle_accessed {
  __HEDDLE_METHOD static T streamed(const T *p) { return __builtin_nontemporal_load(p); }
  __HEDDLE_METHOD static T fresh(const T *p) { return *(const volatile T *)p; }
  __HEDDLE_METHOD static void stream(T *p, T v) { __builtin_nontemporal_store(v, p); }
  __HEDDLE_METHOD static void write(T *p, T v) { *(volatile T *)p = v; }
};
template <class T> struct __heddle_accessed<T, true> {
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "the machine accesses 1, 2, 4, 8 or 16 bytes");
  typedef typename __heddle_piece<sizeof(T)>::type piece;
  __HEDDLE_METHOD static T streamed(const T *p) { return __builtin_bit_cast(T, __builtin_nontemporal_load((const piece *)p)); }
  __HEDDLE_METHOD static T fresh(const T *p) { return __builtin_bit_cast(T, *(const volatile piece *)p); }
  __HEDDLE_METHOD static void stream(T *p, T v) { __builtin_nontemporal_store(__builtin_bit_cast(piece, v), (piece *)p); }
  __HEDDLE_METHOD static void write(T *p, T v) { *(volatile piece *)p = __builtin_bit_cast(piece, v); }
};
template <class T> __HEDDLE_INLINE T __ldg(const T *p) { return *p; }
template <class T> __HEDDLE_INLINE T __ldca(const T *p) { return *p; }
template <class T> __HEDDLE_INLINE T __ldcg(const T *p) { return *p; }
template <class T> __HEDDLE_INLINE T __ldcs(const T *p) { return __heddle_accessed<T>::streamed(p); }
template <class T> __HEDDLE_INLINE T __ldcv(const T *p) { return __heddle_accessed<T>::fresh(p); }
template <class T> __HEDDLE_INLINE void __stwb(T *p, T v) { *p = v; }
template <class T> __HEDDLE_INLINE void __stcg(T *p, T v) { *p = v; }
template <class T> __HEDDLE_INLINE void __stcs(T *p, T v) { __heddle_accessed<T>::stream(p, v); }
template <class T> __HEDDLE_INLINE void __stwt(T *p, T v) { __heddle_accessed<T>::write(p, v); }

// --- Ends. ---

__HEDDLE_INLINE void __trap() { __builtin_trap(); }
__HEDDLE_INLINE void __nanosleep(unsigned) {}
__HEDDLE_INLINE void __heddle_assert_failed(const char *condition, const char *file, unsigned line, const char *function) {
  printf("%s:%u: %s: assertion `%s' failed\n", file, line, function, condition);
  __builtin_trap();
}
extern "C" __device__ __attribute__((noreturn)) inline void __assert_fail(const char *condition, const char *file, unsigned line,
                                                                         const char *function) {
  __heddle_assert_failed(condition, file, line, function);
  __builtin_trap();
}

// --- Arithmetic of the four bytes or two half words of a word, for which the machine has no instructions. ---

#define __HEDDLE_PARTS_OF(name, n, T, bits, parameters, gather) \
  __HEDDLE_INLINE unsigned name##n parameters { \
    const int least = (T)-1 < (T)0 ? -(1 << (bits - 1)) : 0, most = least + (1 << bits) - 1; \
    unsigned result = 0; \
    (void)most; \
    for (int at = 0; at < 32; at += bits) { \
      int x = (T)(a >> at), y = (T)(b >> at); \
      (void)x, (void)y; \
      gather; \
    } \
    return result; \
  }
#define __HEDDLE_PLACED(bits, value) result |= ((unsigned)(value) & ((1u << bits) - 1)) << at
#define __HEDDLE_PARTS(name, sign, value) \
  __HEDDLE_PARTS_OF(name, 4, sign char, 8, (unsigned a, unsigned b), __HEDDLE_PLACED(8, value)) \
  __HEDDLE_PARTS_OF(name, 2, sign short, 16, (unsigned a, unsigned b), __HEDDLE_PLACED(16, value))
#define __HEDDLE_PARTS_OF_ONE(name, value) \
  __HEDDLE_PARTS_OF(name, 4, signed char, 8, (unsigned a, unsigned b = 0), __HEDDLE_PLACED(8, value)) \
  __HEDDLE_PARTS_OF(name, 2, signed short, 16, (unsigned a, unsigned b = 0), __HEDDLE_PLACED(16, value))
#define __HEDDLE_PARTS_SUM(name, sign, value) \
  __HEDDLE_PARTS_OF(name, 4, sign char, 8, (unsigned a, unsigned b), result += (unsigned)(value)) \
  __HEDDLE_PARTS_OF(name, 2, sign short, 16, (unsigned a, unsigned b), result += (unsigned)(value))
__HEDDLE_PARTS(__vadd, unsigned, x + y) __HEDDLE_PARTS(__vaddss, signed, min(max(x + y, least), most))
__HEDDLE_PARTS(__vaddus, unsigned, min(x + y, most)) __HEDDLE_PARTS(__vsub, unsigned, x - y)
__HEDDLE_PARTS(__vsubss, signed, min(max(x - y, least), most)) __HEDDLE_PARTS(__vsubus, unsigned, max(x - y, 0))
__HEDDLE_PARTS(__vavgu, unsigned, (x + y + 1) >> 1) __HEDDLE_PARTS(__vhaddu, unsigned, (x + y) >> 1)
__HEDDLE_PARTS(__vabsdiffs, signed, abs(x - y)) __HEDDLE_PARTS(__vabsdiffu, unsigned, abs(x - y))
__HEDDLE_PARTS(__vmaxs, signed, max(x, y)) __HEDDLE_PARTS(__vmaxu, unsigned, max(x, y))
__HEDDLE_PARTS(__vmins, signed, min(x, y)) __HEDDLE_PARTS(__vminu, unsigned, min(x, y))
#define __HEDDLE_PARTS_COMPARE(name, sign, op) \
  __HEDDLE_PARTS(__vcmp##name, sign, x op y ? -1 : 0) __HEDDLE_PARTS(__vset##name, sign, x op y ? 1 : 0)
__HEDDLE_PARTS_COMPARE(eq, unsigned, ==) __HEDDLE_PARTS_COMPARE(ne, unsigned, !=)
__HEDDLE_PARTS_COMPARE(lts, signed, <) __HEDDLE_PARTS_COMPARE(ltu, unsigned, <) __HEDDLE_PARTS_COMPARE(les, signed, <=)
__HEDDLE_PARTS_COMPARE(leu, unsigned, <=) __HEDDLE_PARTS_COMPARE(gts, signed, >) __HEDDLE_PARTS_COMPARE(gtu, unsigned, >)
__HEDDLE_PARTS_COMPARE(ges, signed, >=) __HEDDLE_PARTS_COMPARE(geu, unsigned, >=)
__HEDDLE_PARTS_OF_ONE(__vabs, abs(x)) __HEDDLE_PARTS_OF_ONE(__vabsss, min(abs(x), most)) __HEDDLE_PARTS_OF_ONE(__vneg, -x)
__HEDDLE_PARTS_OF_ONE(__vnegss, min(-x, most))
__HEDDLE_PARTS_SUM(__vsads, signed, abs(x - y)) __HEDDLE_PARTS_SUM(__vsadu, unsigned, abs(x - y))
#undef __HEDDLE_PARTS_COMPARE
#undef __HEDDLE_PARTS_SUM
#undef __HEDDLE_PARTS_OF_ONE
#undef __HEDDLE_PARTS
#undef __HEDDLE_PLACED
#undef __HEDDLE_PARTS_OF

// --- Half precision. ---

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };
struct alignas(2) __half {
  _Float16 value;
  __half() = default;
  __host__ __device__ constexpr __half(_Float16 v) : value(v) {}
  __host__ __device__ constexpr __half(__half_raw v) : value(__builtin_bit_cast(_Float16, v.x)) {}
  __host__ __device__ constexpr operator __half_raw() const { return {__builtin_bit_cast(unsigned short, value)}; }
#define __HEDDLE_FROM(T) __host__ __device__ constexpr __half(T v) : value((_Float16)v) {}
  __HEDDLE_FROM(float) __HEDDLE_FROM(double) __HEDDLE_FROM(int) __HEDDLE_FROM(unsigned) __HEDDLE_FROM(long)
  __HEDDLE_FROM(unsigned long) __HEDDLE_FROM(long long) __HEDDLE_FROM(unsigned long long)
#undef __HEDDLE_FROM
  __host__ __device__ constexpr operator float() const { return (float)value; }
};
typedef __half half;
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(__half low, __half high) : x(low), y(high) {}
};
typedef __half2 half2;
#define __HEDDLE_HALF(op, name, name2) \
  __HEDDLE_INLINE __half operator op(__half a, __half b) { return a.value op b.value; } \
  __HEDDLE_INLINE __half &operator op##=(__half &a, __half b) { a.value = a.value op b.value; return a; } \
  __HEDDLE_INLINE __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; } \
  __HEDDLE_INLINE __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; } \
  __HEDDLE_INLINE __half name(__half a, __half b) { return a op b; } \
  __HEDDLE_INLINE __half2 name2(__half2 a, __half2 b) { return a op b; }
__HEDDLE_HALF(+, __hadd, __hadd2) __HEDDLE_HALF(-, __hsub, __hsub2) __HEDDLE_HALF(*, __hmul, __hmul2)
__HEDDLE_HALF(/, __hdiv, __h2div)
#undef __HEDDLE_HALF
__HEDDLE_INLINE __half operator-(__half a) { return -a.value; }
__HEDDLE_INLINE __half2 operator-(__half2 a) { return {-a.x, -a.y}; }
#define __HEDDLE_HALF_COMPARE(op, name, name2) \
  __HEDDLE_INLINE bool operator op(__half a, __half b) { return a.value op b.value; } \
  __HEDDLE_INLINE bool name(__half a, __half b) { return a.value op b.value; } \
  __HEDDLE_INLINE __half2 name2(__half2 a, __half2 b) { return {(float)name(a.x, b.x), (float)name(a.y, b.y)}; }
__HEDDLE_HALF_COMPARE(==, __heq, __heq2) __HEDDLE_HALF_COMPARE(!=, __hneu, __hneu2) __HEDDLE_HALF_COMPARE(<, __hlt, __hlt2)
__HEDDLE_HALF_COMPARE(<=, __hle, __hle2) __HEDDLE_HALF_COMPARE(>, __hgt, __hgt2) __HEDDLE_HALF_COMPARE(>=, __hge, __hge2)
#undef __HEDDLE_HALF_COMPARE
__HEDDLE_INLINE bool __hne(__half a, __half b) { return a < b || a > b; }
__HEDDLE_INLINE bool __hisnan(__half a) { return a != a; }
__HEDDLE_INLINE __half __float2half(float x) { return x; }
__HEDDLE_INLINE __half __float2half_rn(float x) { return x; }
__HEDDLE_INLINE __half __double2half(double x) { return x; }
__HEDDLE_INLINE float __half2float(__half x) { return x; }
#define __HEDDLE_HALF_OF(name, T) \
  __HEDDLE_INLINE __half __##name##2half_rn(T x) { return (_Float16)x; } \
  __HEDDLE_INLINE T __half2##name##_rz(__half x) { return (T)x.value; } \
  __HEDDLE_INLINE T __half2##name##_rn(__half x) { return (T)rintf(x); }
__HEDDLE_HALF_OF(int, int) __HEDDLE_HALF_OF(uint, unsigned) __HEDDLE_HALF_OF(short, short) __HEDDLE_HALF_OF(ushort, unsigned short)
__HEDDLE_HALF_OF(ll, long long) __HEDDLE_HALF_OF(ull, unsigned long long)
#undef __HEDDLE_HALF_OF
__HEDDLE_INLINE unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x.value); }
__HEDDLE_INLINE __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(_Float16, x); }
__HEDDLE_INLINE short __half_as_short(__half x) { return __builtin_bit_cast(short, x.value); }
__HEDDLE_INLINE __half __short_as_half(short x) { return __builtin_bit_cast(_Float16, x); }
__HEDDLE_INLINE __half __hneg(__half a) { return -a; }
__HEDDLE_INLINE __half __habs(__half a) { return __ushort_as_half(__half_as_ushort(a) & 0x7fff); }
__HEDDLE_VALUE(_Float16, __heddle_fmah, (_Float16, _Float16, _Float16), "_Z3fmaDhDhDh");
__HEDDLE_INLINE __half __hfma(__half a, __half b, __half c) { return __heddle_fmah(a.value, b.value, c.value); }
__HEDDLE_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
__HEDDLE_INLINE __half __hmax(__half a, __half b) { return fmaxf(a, b); }
__HEDDLE_INLINE __half __hmin(__half a, __half b) { return fminf(a, b); }
__HEDDLE_INLINE __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
__HEDDLE_INLINE __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
__HEDDLE_INLINE __half2 __hneg2(__half2 a) { return -a; }
__HEDDLE_INLINE __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
// Computed in single precision and rounded.
#define __HEDDLE_HALF_OF(name, value) \
  __HEDDLE_INLINE __half h##name(__half a) { return value; } \
  __HEDDLE_INLINE __half2 h2##name(__half2 a) { return {h##name(a.x), h##name(a.y)}; }
__HEDDLE_HALF_OF(sqrt, sqrtf(a)) __HEDDLE_HALF_OF(rsqrt, rsqrtf(a)) __HEDDLE_HALF_OF(rcp, 1.0f / (float)a)
__HEDDLE_HALF_OF(exp, expf(a)) __HEDDLE_HALF_OF(exp2, exp2f(a)) __HEDDLE_HALF_OF(exp10, exp10f(a)) __HEDDLE_HALF_OF(log, logf(a))
__HEDDLE_HALF_OF(log2, log2f(a)) __HEDDLE_HALF_OF(log10, log10f(a)) __HEDDLE_HALF_OF(sin, sinf(a)) __HEDDLE_HALF_OF(cos, cosf(a))
__HEDDLE_HALF_OF(floor, floorf(a)) __HEDDLE_HALF_OF(ceil, ceilf(a)) __HEDDLE_HALF_OF(trunc, truncf(a)) __HEDDLE_HALF_OF(rint, rintf(a))
#undef __HEDDLE_HALF_OF
__HEDDLE_INLINE __half2 make_half2(__half x, __half y) { return {x, y}; }
__HEDDLE_INLINE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
__HEDDLE_INLINE __half2 __half2half2(__half x) { return {x, x}; }
__HEDDLE_INLINE __half2 __float2half2_rn(float x) { return {x, x}; }
__HEDDLE_INLINE __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
__HEDDLE_INLINE __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
__HEDDLE_INLINE float2 __half22float2(__half2 v) { return {v.x, v.y}; }
__HEDDLE_INLINE __half __low2half(__half2 v) { return v.x; }
__HEDDLE_INLINE __half __high2half(__half2 v) { return v.y; }
__HEDDLE_INLINE __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
__HEDDLE_INLINE __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
__HEDDLE_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
__HEDDLE_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
__HEDDLE_INLINE __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
__HEDDLE_INLINE float __low2float(__half2 v) { return v.x; }
__HEDDLE_INLINE float __high2float(__half2 v) { return v.y; }

// --- Copies. ---

// A program's own functions of these names are no second definitions.
#define __HEDDLE_OURS __attribute__((enable_if(true, "")))
__HEDDLE_INLINE void *memcpy(void *to, const void *from, size_t bytes) __HEDDLE_OURS { return __builtin_memcpy(to, from, bytes); }
__HEDDLE_INLINE void *memset(void *to, int byte, size_t bytes) __HEDDLE_OURS { return __builtin_memset(to, byte, bytes); }

// --- Additions of what the machine has no atomics for: the word that holds it is exchanged until nobody came between. ---

#define __HEDDLE_ATOMIC_PARTS(T) \
  __HEDDLE_INLINE T atomicAdd(T *p, T v) __HEDDLE_OURS { \
    unsigned *word = (unsigned *)((size_t)p & ~(size_t)3), seen = *(volatile unsigned *)word, old; \
    T before, after; \
    do { \
      old = seen; \
      unsigned next = old; \
      __builtin_memcpy(&before, (char *)&old + ((size_t)p & 3), sizeof(T)); \
      after = before + v; \
      __builtin_memcpy((char *)&next + ((size_t)p & 3), &after, sizeof(T)); \
      seen = atomicCAS(word, old, next); \
    } while (seen != old); \
    return before; \
  }
__HEDDLE_ATOMIC_PARTS(__half) __HEDDLE_ATOMIC_PARTS(__half2)

// --- The cycle counter of the SM, of which the machine reads the low 32 bits. ---

typedef long clock_t;
__HEDDLE_INLINE clock_t clock() { return __heddle_clock(); }
__HEDDLE_INLINE long long clock64() { return __heddle_clock(); }

// --- What there is not. ---

#define __HEDDLE_MISSING(what) __attribute__((unavailable(what " are not supported by Heddle")))
__device__ long long wall_clock64() __HEDDLE_MISSING("clocks of a constant rate");
typedef unsigned long long __heddle_texture;
template <class T> __device__ T tex1D(__heddle_texture, float) __HEDDLE_MISSING("textures");
template <class T> __device__ T tex1Dfetch(__heddle_texture, int) __HEDDLE_MISSING("textures");
template <class T> __device__ T tex2D(__heddle_texture, float, float) __HEDDLE_MISSING("textures");
template <class T> __device__ T tex3D(__heddle_texture, float, float, float) __HEDDLE_MISSING("textures");
