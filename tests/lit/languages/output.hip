// printf, and assert of the host's header, which ends the launch.
// RUN: not %heddle run %s --grid 1 --block 4 --arg i32=2 --arg A=zeros:int32:4 --mode functional > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=OUT < %t.out
// RUN: FileCheck %s --check-prefix=ERR < %t.err
// OUT: output.hip:[[@LINE+9]]: {{.*}}: assertion `threadIdx.x < limit' failed
// ERR: in kernel `k`, work-item global (2, 0, 0)
// RUN: %heddle run %s --grid 1 --block 4 --arg i32=9 --arg A=zeros:int32:4 --mode functional | FileCheck %s --check-prefix=FINE
// FINE: lane 3 has 1.5 and text
#include <assert.h>
#include <hip/hip_runtime.h>
#include <stdio.h>
__global__ void k(int limit, int *a)
{
    assert(threadIdx.x < limit);
    printf("lane %u has %.1f and %s\n", threadIdx.x, 0.5f * threadIdx.x, "text");
    a[threadIdx.x] = __popcll(__ballot(1));
}
