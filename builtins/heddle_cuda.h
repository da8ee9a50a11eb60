// Device code of CUDA on Heddle. Masks of lanes have 32 bits, as in CUDA: warps of 64 lanes have more lanes than a mask.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 12000
#include "heddle_simt.h"

typedef __heddle_texture cudaTextureObject_t;
typedef __heddle_texture cudaSurfaceObject_t;

#define __HEDDLE_API(name) cuda##name
#define __HEDDLE_DEVICE_PROPERTIES cudaDeviceProp
#define __HEDDLE_DEVICE_ATTRIBUTE(name) cudaDevAttr##name
#define __HEDDLE_DEVICE_ATTRIBUTES cudaDeviceAttr
#include "heddle_simt_host.h"

// What hosts name of the driver's interface beside the runtime's.
typedef enum cudaError_enum { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN = 999 } CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct __heddle_context *CUcontext;
typedef struct __heddle_module *CUmodule;
typedef struct __heddle_function *CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
extern "C" __host__ CUresult cuInit(unsigned);
extern "C" __host__ CUresult cuGetErrorString(CUresult, const char **);
extern "C" __host__ CUresult cuGetErrorName(CUresult, const char **);
extern "C" __host__ CUresult cuDeviceGet(CUdevice *, int);
extern "C" __host__ CUresult cuDeviceGetCount(int *);

__HEDDLE_INLINE unsigned __activemask() { return (unsigned)__heddle_active(); }
__HEDDLE_INLINE unsigned __ballot_sync(unsigned mask, int predicate) { return (unsigned)__heddle_ballot(predicate) & mask; }
__HEDDLE_INLINE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
__HEDDLE_INLINE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0; }
__HEDDLE_INLINE void __syncwarp(unsigned mask = 0xffffffff) { __heddle_fence(3); }

template <class T> __HEDDLE_INLINE T __shfl_sync(unsigned mask, T v, int lane, int width = warpSize) {
  return __heddle_from(v, __heddle_indexed(lane, width));
}
template <class T> __HEDDLE_INLINE T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = warpSize) {
  return __heddle_from(v, __heddle_above(delta, width));
}
template <class T> __HEDDLE_INLINE T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = warpSize) {
  return __heddle_from(v, __heddle_below(delta, width));
}
template <class T> __HEDDLE_INLINE T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = warpSize) {
  return __heddle_from(v, __heddle_crossed(lanes, width));
}

// For each lane of the mask in turn: who has the same value.
template <class T> __HEDDLE_INLINE unsigned __match_any_sync(unsigned mask, T v) {
  unsigned result = 0;
  for (unsigned left = mask; left != 0; left &= left - 1) {
    T of = __heddle_from(v, (unsigned)__builtin_ctz(left));
    unsigned same = __ballot_sync(mask, v == of);
    if (v == of) result = same;
  }
  return result;
}
template <class T> __HEDDLE_INLINE unsigned __match_all_sync(unsigned mask, T v, int *all) {
  T first = __heddle_from(v, (unsigned)__builtin_ctz(mask));
  *all = __all_sync(mask, v == first);
  return *all ? mask : 0;
}

#define __HEDDLE_REDUCE(name, T, combine) \
  __HEDDLE_INLINE T name(unsigned mask, T v) { \
    T a = __heddle_from(v, (unsigned)__builtin_ctz(mask)); \
    for (unsigned left = mask & (mask - 1); left != 0; left &= left - 1) { \
      T b = __heddle_from(v, (unsigned)__builtin_ctz(left)); \
      a = combine; \
    } \
    return a; \
  }
__HEDDLE_REDUCE(__reduce_add_sync, int, a + b) __HEDDLE_REDUCE(__reduce_add_sync, unsigned, a + b)
__HEDDLE_REDUCE(__reduce_min_sync, int, min(a, b)) __HEDDLE_REDUCE(__reduce_min_sync, unsigned, min(a, b))
__HEDDLE_REDUCE(__reduce_max_sync, int, max(a, b)) __HEDDLE_REDUCE(__reduce_max_sync, unsigned, max(a, b))
__HEDDLE_REDUCE(__reduce_and_sync, unsigned, a & b) __HEDDLE_REDUCE(__reduce_or_sync, unsigned, a | b)
__HEDDLE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef __HEDDLE_REDUCE
