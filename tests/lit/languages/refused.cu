// What cannot be compiled is named, with its place.
// RUN: not %heddle build %s -DASM -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASM
// RUN: not %heddle build %s -DTEXTURE -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEXTURE
// RUN: not %heddle build %s -DGRID -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not %heddle build %s -DCLOCK -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLOCK
// RUN: not %heddle build %s -DNEST -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEST
// RUN: not %heddle build %s -DNONE -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#ifndef NONE
__global__ void child(int *a) { a[0] = 1; }
__global__ void k(int *a, cudaTextureObject_t t)
{
#ifdef ASM
    // ASM: refused.cu:[[@LINE+1]]:5: error: assembly of another machine (asm) cannot be compiled
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(a[0]));
#endif
#ifdef TEXTURE
    // TEXTURE: refused.cu:[[@LINE+1]]:{{.*}}error: 'tex2D<int>' is unavailable: textures are not supported by Heddle
    a[0] = tex2D<int>(t, 0.5f, 0.5f);
#endif
#ifdef GRID
    // GRID: refused.cu:[[@LINE+1]]:{{.*}}error: {{.*}}cooperative groups beyond a block are not supported by Heddle
    cooperative_groups::this_grid();
#endif
#ifdef CLOCK
    // CLOCK: refused.cu:[[@LINE+1]]:{{.*}}error: 'wall_clock64' is unavailable: clocks of a constant rate are not supported by Heddle
    a[0] = (int)wall_clock64();
#endif
#ifdef NEST
    // NEST: refused.cu:[[@LINE+1]]:{{.*}}error:
    child<<<1, 1>>>(a);
#endif
}
#endif
// NONE: no kernel function
