// Reads of the cycle counter stay apart and in order: what stands between them is what they measure.
// In functional mode the counter goes from block to block of code.
// RUN: %heddle build %s -DLEAST=1 --emit asm -o - | FileCheck %s
// RUN: %heddle run %s -DLEAST=1 --grid 1 --block 32 --arg a=zeros:int32:64 -q
// RUN: %heddle run %s -DLEAST=0 --grid 1 --block 32 --arg a=zeros:int32:64 --mode functional -q
// CHECK: mov.b32 {{.*}}clock.lo
// CHECK: ld.
// CHECK: mov.b32 {{.*}}clock.lo
#include <cassert>
__global__ void timed(int *a)
{
    clock_t before = clock();
    int value = *(volatile int *)&a[threadIdx.x];
    long long cycles = clock64() - before;
    assert(cycles >= LEAST);
    a[32 + threadIdx.x] = (int)cycles + value;
}
