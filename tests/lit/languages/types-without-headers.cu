// CUDA's own header includes those of the C library: their types need no #include.
// RUN: %heddle run %s --grid 1 --block 4 --arg a=zeros:int32:4,save=%t.npy -q
// RUN: od -An -v -w16 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// RUN: sed 's/^__global__/#include <sys\/types.h>\n#include <cstddef>\n&/' %s > %t.cu
// RUN: %heddle build %t.cu -o %t.o
// CHECK: 15 15 15 15
__global__ void sizes(uint *a) {
  if (a != NULL) a[threadIdx.x] = sizeof(ushort) + sizeof(uint) + sizeof(ulong) + (sizeof(size_t) == 8);
}
