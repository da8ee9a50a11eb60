// Device code of HIP on Heddle. Masks of lanes have 64 bits, as in HIP.
#pragma once

#define __HIPCC__ 1
#include "heddle_simt.h"

typedef __heddle_texture hipTextureObject_t;
typedef __heddle_texture hipSurfaceObject_t;

#define __HEDDLE_API(name) hip##name
#define __HEDDLE_DEVICE_PROPERTIES hipDeviceProp_t
#define __HEDDLE_DEVICE_ATTRIBUTE(name) hipDeviceAttribute##name
#define __HEDDLE_DEVICE_ATTRIBUTES hipDeviceAttribute_t
#include "heddle_simt_host.h"
#define HIP_SYMBOL(variable) variable
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

__HEDDLE_INLINE unsigned long long __activemask() { return __heddle_active(); }
__HEDDLE_INLINE unsigned long long __ballot(int predicate) { return __heddle_ballot(predicate); }
__HEDDLE_INLINE int __any(int predicate) { return __heddle_ballot(predicate) != 0; }
__HEDDLE_INLINE int __all(int predicate) { return __heddle_ballot(predicate == 0) == 0; }
__HEDDLE_INLINE unsigned __lane_id() { return __heddle_lane(); }
__HEDDLE_INLINE void __syncwarp(unsigned long long mask = ~0ull) { __heddle_fence(3); }

template <class T> __HEDDLE_INLINE T __shfl(T v, int lane, int width = warpSize) {
  return __heddle_from(v, __heddle_indexed(lane, width));
}
template <class T> __HEDDLE_INLINE T __shfl_up(T v, unsigned delta, int width = warpSize) {
  return __heddle_from(v, __heddle_above(delta, width));
}
template <class T> __HEDDLE_INLINE T __shfl_down(T v, unsigned delta, int width = warpSize) {
  return __heddle_from(v, __heddle_below(delta, width));
}
template <class T> __HEDDLE_INLINE T __shfl_xor(T v, int lanes, int width = warpSize) {
  return __heddle_from(v, __heddle_crossed(lanes, width));
}

// The forms with a mask, whose lanes have come together.
__HEDDLE_INLINE unsigned long long __ballot_sync(unsigned long long mask, int predicate) { return __ballot(predicate) & mask; }
__HEDDLE_INLINE int __any_sync(unsigned long long mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
__HEDDLE_INLINE int __all_sync(unsigned long long mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0; }
template <class T> __HEDDLE_INLINE T __shfl_sync(unsigned long long mask, T v, int lane, int width = warpSize) {
  return __shfl(v, lane, width);
}
template <class T> __HEDDLE_INLINE T __shfl_up_sync(unsigned long long mask, T v, unsigned delta, int width = warpSize) {
  return __shfl_up(v, delta, width);
}
template <class T> __HEDDLE_INLINE T __shfl_down_sync(unsigned long long mask, T v, unsigned delta, int width = warpSize) {
  return __shfl_down(v, delta, width);
}
template <class T> __HEDDLE_INLINE T __shfl_xor_sync(unsigned long long mask, T v, int lanes, int width = warpSize) {
  return __shfl_xor(v, lanes, width);
}

// HIP's own names of atomics without a promise of the order of floating-point sums.
template <class T> __HEDDLE_INLINE T unsafeAtomicAdd(T *p, T v) { return atomicAdd(p, v); }
template <class T> __HEDDLE_INLINE T safeAtomicAdd(T *p, T v) { return atomicAdd(p, v); }
template <class T> __HEDDLE_INLINE T atomicAddNoRet(T *p, T v) { return atomicAdd(p, v); }
