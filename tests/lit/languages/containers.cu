// Headers of C++ that a host uses, in a source without a host program.
// RUN: %heddle build %s -o %t.o
// RUN: cp %s %t.hip
// RUN: %heddle build %t.hip -o %t.o
#include <iostream>
#include <memory>
#include <vector>
__noinline__ __device__ int two() { return 2; }
__global__ void one(int *a) { a[threadIdx.x] = two(); }
