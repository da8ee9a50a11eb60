// S5: a uniform loop counter and its branch run on the scalar unit.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit asm -o - --no-scalarize | FileCheck %s --check-prefix=VECTOR
// CHECK: add.b32 [[I:s[0-9]+]], [[I]], 1
// CHECK: bras
// CHECK-NOT: brad
// VECTOR-NOT: add.b32 s
__kernel void k(__global int *a, int n) {
  int s = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++)
    s += a[i + get_global_id(0)];
  a[get_global_id(0)] = s;
}
