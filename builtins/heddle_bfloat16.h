// The 16-bit floats with the exponent of single precision: `<cuda_bf16.h>` and `<hip/hip_bf16.h>`. The machine has no arithmetic of
// them: values are stored in 16 bits and computed with in single precision, rounded to nearest even after each operation; what comes from doubles and integers, and
// a fused operation, is rounded to single precision before.
#pragma once

struct alignas(2) __nv_bfloat16_raw { unsigned short x; };
struct alignas(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(__nv_bfloat16_raw v) : __x(v.x) {}
  __host__ __device__ constexpr operator __nv_bfloat16_raw() const { return {__x}; }
  __host__ __device__ constexpr __nv_bfloat16(float v) : __x(rounded(__builtin_bit_cast(unsigned, v))) {}
  __host__ __device__ constexpr __nv_bfloat16(double v) : __nv_bfloat16((float)v) {}
#define __HEDDLE_FROM(T) __host__ __device__ constexpr __nv_bfloat16(T v) : __nv_bfloat16((float)v) {}
  __HEDDLE_FROM(int) __HEDDLE_FROM(unsigned) __HEDDLE_FROM(long) __HEDDLE_FROM(unsigned long) __HEDDLE_FROM(long long)
  __HEDDLE_FROM(unsigned long long)
#undef __HEDDLE_FROM
  __host__ __device__ constexpr operator float() const { return __builtin_bit_cast(float, (unsigned)__x << 16); }
  // Of NaNs one that is quiet; of all else the upper half, to which the lower one may carry.
  __host__ __device__ static constexpr unsigned short rounded(unsigned bits) {
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat16 __hip_bfloat16;
struct alignas(4) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat162 __hip_bfloat162;

#define __HEDDLE_BFLOAT(op, name, name2) \
  __HEDDLE_INLINE __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a op (float)b; } \
  __HEDDLE_INLINE __nv_bfloat16 &operator op##=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = a op b; } \
  __HEDDLE_INLINE __nv_bfloat162 operator op(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x op b.x, a.y op b.y}; } \
  __HEDDLE_INLINE __nv_bfloat162 &operator op##=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = a op b; } \
  __HEDDLE_INLINE __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; } \
  __HEDDLE_INLINE __nv_bfloat162 name2(__nv_bfloat162 a, __nv_bfloat162 b) { return a op b; }
__HEDDLE_BFLOAT(+, __hadd, __hadd2) __HEDDLE_BFLOAT(-, __hsub, __hsub2) __HEDDLE_BFLOAT(*, __hmul, __hmul2)
__HEDDLE_BFLOAT(/, __hdiv, __h2div)
#undef __HEDDLE_BFLOAT
__HEDDLE_INLINE __nv_bfloat16 operator-(__nv_bfloat16 a) { return -(float)a; }
#define __HEDDLE_BFLOAT_COMPARE(op, name) \
  __HEDDLE_INLINE bool operator op(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a op (float)b; } \
  __HEDDLE_INLINE bool name(__nv_bfloat16 a, __nv_bfloat16 b) { return a op b; }
__HEDDLE_BFLOAT_COMPARE(==, __heq) __HEDDLE_BFLOAT_COMPARE(!=, __hneu) __HEDDLE_BFLOAT_COMPARE(<, __hlt)
__HEDDLE_BFLOAT_COMPARE(<=, __hle) __HEDDLE_BFLOAT_COMPARE(>, __hgt) __HEDDLE_BFLOAT_COMPARE(>=, __hge)
#undef __HEDDLE_BFLOAT_COMPARE
__HEDDLE_INLINE bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return a < b || a > b; }

#define __HEDDLE_BOTH static inline __host__ __device__ __attribute__((always_inline))
__HEDDLE_BOTH __nv_bfloat16 __float2bfloat16(float x) { return x; }
__HEDDLE_BOTH __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
__HEDDLE_BOTH __nv_bfloat16 __double2bfloat16(double x) { return x; }
__HEDDLE_BOTH float __bfloat162float(__nv_bfloat16 x) { return x; }
__HEDDLE_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
__HEDDLE_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
__HEDDLE_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
__HEDDLE_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
__HEDDLE_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
__HEDDLE_BOTH float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
#undef __HEDDLE_BOTH
__HEDDLE_INLINE __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
__HEDDLE_INLINE __nv_bfloat16 __habs(__nv_bfloat16 a) { return fabsf(a); }
__HEDDLE_INLINE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return fmaf(a, b, c); }
__HEDDLE_INLINE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return fmaxf(a, b); }
__HEDDLE_INLINE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return fminf(a, b); }
__HEDDLE_INLINE __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
__HEDDLE_INLINE __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
__HEDDLE_INLINE __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
__HEDDLE_INLINE float __low2float(__nv_bfloat162 v) { return v.x; }
__HEDDLE_INLINE float __high2float(__nv_bfloat162 v) { return v.y; }
__HEDDLE_INLINE __nv_bfloat16 hsqrt(__nv_bfloat16 a) { return sqrtf(a); }
__HEDDLE_INLINE __nv_bfloat16 hexp(__nv_bfloat16 a) { return expf(a); }
__HEDDLE_INLINE __nv_bfloat16 hlog(__nv_bfloat16 a) { return logf(a); }
__HEDDLE_ATOMIC_PARTS(__nv_bfloat16) __HEDDLE_ATOMIC_PARTS(__nv_bfloat162)
__HEDDLE_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
__HEDDLE_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
__HEDDLE_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
__HEDDLE_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  __nv_bfloat16 v;
  v.__x = x;
  return v;
}
