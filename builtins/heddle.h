// heddle.h: what OpenCL C has no words for on Heddle's machine: loads and stores with a cache policy, prefetches, cache control.
//
//   #include <heddle.h>
//   float4 v = heddle_load_cs(a + i);      // a stream: the first to be evicted
//   heddle_store_wt(flag, 1);              // goes through to memory at once
//
// Loads, of global memory: ca (cache at all levels), cg (L2 only), cs (evict first), cv (fetch again), uniform (read-only, best at one address for
// all work-items). Stores: wb (write back), cg, cs, wt (write through). They exist for every scalar and for vectors of 2 and 4 elements of at most 16
// bytes. A policy is about time and visibility between work-groups, never about what a race-free kernel computes.
#ifndef HEDDLE_H
#define HEDDLE_H

#define HEDDLE_WORDS(F) F(8, uchar) F(16, ushort) F(32, uint) F(64, ulong) F(128, uint4)
#define HEDDLE_DECLARE(BITS, U) \
  U __heddle_load_ca_##BITS(const __global void *p); \
  U __heddle_load_cg_##BITS(const __global void *p); \
  U __heddle_load_cs_##BITS(const __global void *p); \
  U __heddle_load_cv_##BITS(const __global void *p); \
  U __heddle_load_uniform_##BITS(const __global void *p); \
  void __heddle_store_wb_##BITS(__global void *p, U v); \
  void __heddle_store_cg_##BITS(__global void *p, U v); \
  void __heddle_store_cs_##BITS(__global void *p, U v); \
  void __heddle_store_wt_##BITS(__global void *p, U v);
HEDDLE_WORDS(HEDDLE_DECLARE)
#undef HEDDLE_DECLARE
#undef HEDDLE_WORDS

void __heddle_prefetch_1(const __global void *p);
void __heddle_prefetch_15(const __global void *p);
void __heddle_prefetch_2(const __global void *p);
uint __heddle_cache_query(const __global void *p);
void __heddle_cache_write_back(const __global void *p);
void __heddle_cache_invalidate(const __global void *p);
void __heddle_cache_discard(const __global void *p);
void __heddle_cache_invalidate_all(void);

#define HEDDLE_INLINE static inline __attribute__((overloadable, always_inline))

// Into the SM's data L1; into the L1.5 behind the uniform L1; into L2. They never fault.
static inline __attribute__((always_inline)) void heddle_prefetch_l1(const __global void *p) { __heddle_prefetch_1(p); }
static inline __attribute__((always_inline)) void heddle_prefetch_l15(const __global void *p) { __heddle_prefetch_15(p); }
static inline __attribute__((always_inline)) void heddle_prefetch_l2(const __global void *p) { __heddle_prefetch_2(p); }
// State of p's sector in the SM's data L1: bit 0 valid, bit 1 dirty.
static inline __attribute__((always_inline)) uint heddle_cache_query(const __global void *p) { return __heddle_cache_query(p); }
// The line of p in the SM's data L1: write dirty bytes back; invalidate, after writing back; invalidate and forget what is dirty.
static inline __attribute__((always_inline)) void heddle_cache_write_back(const __global void *p) { __heddle_cache_write_back(p); }
static inline __attribute__((always_inline)) void heddle_cache_invalidate(const __global void *p) { __heddle_cache_invalidate(p); }
static inline __attribute__((always_inline)) void heddle_cache_discard(const __global void *p) { __heddle_cache_discard(p); }
// The whole data L1 of the SM.
static inline __attribute__((always_inline)) void heddle_cache_invalidate_all(void) { __heddle_cache_invalidate_all(); }

#define HEDDLE_ACCESS(T, BITS, U) \
  HEDDLE_INLINE T heddle_load_ca(const __global T *p) { return as_##T(__heddle_load_ca_##BITS(p)); } \
  HEDDLE_INLINE T heddle_load_cg(const __global T *p) { return as_##T(__heddle_load_cg_##BITS(p)); } \
  HEDDLE_INLINE T heddle_load_cs(const __global T *p) { return as_##T(__heddle_load_cs_##BITS(p)); } \
  HEDDLE_INLINE T heddle_load_cv(const __global T *p) { return as_##T(__heddle_load_cv_##BITS(p)); } \
  HEDDLE_INLINE T heddle_load_uniform(const __global T *p) { return as_##T(__heddle_load_uniform_##BITS(p)); } \
  HEDDLE_INLINE void heddle_store_wb(__global T *p, T v) { __heddle_store_wb_##BITS(p, as_##U(v)); } \
  HEDDLE_INLINE void heddle_store_cg(__global T *p, T v) { __heddle_store_cg_##BITS(p, as_##U(v)); } \
  HEDDLE_INLINE void heddle_store_cs(__global T *p, T v) { __heddle_store_cs_##BITS(p, as_##U(v)); } \
  HEDDLE_INLINE void heddle_store_wt(__global T *p, T v) { __heddle_store_wt_##BITS(p, as_##U(v)); }

HEDDLE_ACCESS(char, 8, uchar) HEDDLE_ACCESS(uchar, 8, uchar) HEDDLE_ACCESS(char2, 16, ushort) HEDDLE_ACCESS(uchar2, 16, ushort)
HEDDLE_ACCESS(char4, 32, uint) HEDDLE_ACCESS(uchar4, 32, uint) HEDDLE_ACCESS(short, 16, ushort) HEDDLE_ACCESS(ushort, 16, ushort)
HEDDLE_ACCESS(short2, 32, uint) HEDDLE_ACCESS(ushort2, 32, uint) HEDDLE_ACCESS(short4, 64, ulong) HEDDLE_ACCESS(ushort4, 64, ulong)
HEDDLE_ACCESS(int, 32, uint) HEDDLE_ACCESS(uint, 32, uint) HEDDLE_ACCESS(int2, 64, ulong) HEDDLE_ACCESS(uint2, 64, ulong)
HEDDLE_ACCESS(int4, 128, uint4) HEDDLE_ACCESS(uint4, 128, uint4) HEDDLE_ACCESS(long, 64, ulong) HEDDLE_ACCESS(ulong, 64, ulong)
HEDDLE_ACCESS(long2, 128, uint4) HEDDLE_ACCESS(ulong2, 128, uint4) HEDDLE_ACCESS(float, 32, uint) HEDDLE_ACCESS(float2, 64, ulong)
HEDDLE_ACCESS(float4, 128, uint4)
#ifdef cl_khr_fp64
HEDDLE_ACCESS(double, 64, ulong) HEDDLE_ACCESS(double2, 128, uint4)
#endif
#undef HEDDLE_ACCESS
#undef HEDDLE_INLINE
#endif
