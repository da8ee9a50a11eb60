// Headers of C++ that a host uses, in a source without a host program.
// RUN: %heddle build %s -o %t.o
#include <iostream>
#include <memory>
#include <vector>
__global__ void one(int *a) { a[threadIdx.x] = 1; }
