// A host program in the same file is left out, and so is what it includes.
// RUN: %heddle run %s --kernel scale --grid 1 --block 8 --arg a=zeros:float32:8,save=%t.npy --arg f32=2 -q
// RUN: od -An -v -w32 -tf4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// RUN: cp %s %t.cpp
// RUN: %heddle build -fsyntax-only %t.cpp
// RUN: %heddle run %t.cpp --kernel scale --grid 1 --block 8 --arg a=zeros:float32:8,save=%t.npy --arg f32=2 -q
// RUN: od -An -v -w32 -tf4 -j128 %t.npy | tr -s " " | FileCheck %s
// CHECK: 0 2 4 6 8 10 12 14
#include <algorithm>
#include <cstdio>
#include <hip/hip_runtime.h>
#include <vector>

__constant__ float offset[8];
__global__ void scale(float *a, float factor) { a[threadIdx.x] = factor * threadIdx.x; }

int main() {
  hipDeviceProp_t properties;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return 1;
  int size = 0;
  hipDeviceGetAttribute(&size, hipDeviceAttributeMaxSharedMemoryPerBlock, 0);
  std::vector<float> host(std::min(8, max(size, 8)));
  float *a;
  hipMalloc(&a, host.size() * sizeof *a);
  hipMemcpyToSymbol(HIP_SYMBOL(offset), host.data(), sizeof offset);
  hipEvent_t before;
  hipEventCreate(&before);
  hipEventRecord(before);
  unsigned sum = max(size, 3u);
  scale<<<1, 8, min(0u, size), hipStreamDefault>>>(a, max(2.0f, 1.0) + sum);
  hipLaunchKernelGGL(scale, dim3(1), dim3(8), 0, 0, a, 3.0f);
  hipMemcpy(host.data(), a, host.size() * sizeof *a, hipMemcpyDeviceToHost);
  std::printf("%s %f\n", properties.name, host[1]);
  return hipFree(a) == hipSuccess ? 0 : 1;
}
