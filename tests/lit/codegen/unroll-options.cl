// Loops are unrolled at -O2 and -O3, unless small code or loops as they are were asked for.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s -fno-unroll-loops -funroll-loops --emit asm -o - | FileCheck %s
// RUN: %heddle build %s -fno-unroll-loops --emit asm -o - | FileCheck %s --check-prefix=LOOP
// RUN: %heddle build %s -Os --emit asm -o - | FileCheck %s --check-prefix=LOOP
// RUN: %heddle build %s -O1 --emit asm -o - | FileCheck %s --check-prefix=LOOP

// CHECK-COUNT-8: add.f32
// LOOP-COUNT-1: add.f32
// LOOP-NOT: add.f32
kernel void total(global const float *a, global float *b, int n) {
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[k * 7];
  b[get_global_id(0)] = sum;
}
