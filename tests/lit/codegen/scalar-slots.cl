// S5: uniform loads in loops that would fill the scalar unit's slots while clusters idle are in lanes, with what is computed
// from them; what leaves the loop is taken from the first lane behind it. Not where the scalar unit issues as much as the
// clusters do, and not where a loop has enough else to do.
// RUN: %heddle build %s --set memory.unaligned-vectors=false --target %root/machines/mixed.toml --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --set memory.unaligned-vectors=false --target %root/machines/mixed.toml --set sm.scalar-issue=4 --emit asm -o - | FileCheck %s --check-prefix=SCALAR
// RUN: %heddle build %s --set memory.unaligned-vectors=false --emit asm -o - | FileCheck %s --check-prefix=SCALAR
// RUN: %heddle build %s --set memory.unaligned-vectors=false --target %root/machines/mixed.toml --stop-after select -o %t.mir
// RUN: FileCheck %s --check-prefix=MIR < %t.mir
// RUN: %heddle build %t.mir --set memory.unaligned-vectors=false --target %root/machines/mixed.toml --emit asm -o - | FileCheck %s

// CHECK: .kernel {"name":"sums"
// CHECK: [[LOOP:L[0-9]+]]:
// CHECK-NOT: {{ld|first}}{{.*}} s{{[0-9]+}},
// CHECK: c3 ld.global.b32 [[A:[lm][0-9]+]], [c[0x8] + u32 s
// CHECK-NOT: {{ld|first}}{{.*}} s{{[0-9]+}},
// CHECK: add.b32 {{[lm][0-9]+}}, [[A]]
// CHECK-NOT: {{ld|first}}{{.*}} s{{[0-9]+}},
// CHECK: bras{{.*}} [[LOOP]]
// CHECK: first.b32 s
// CHECK: .kernel {"name":"product"
// CHECK: ld.global.b32{{.*}} s{{[0-9]+}},
// SCALAR: .kernel {"name":"sums"
// SCALAR: ld.global.b32{{.*}} s{{[0-9]+}},
// SCALAR-NOT: first
// MIR: kernel @sums {{.*}}loads-in-lanes
// MIR-NOT: kernel @product {{.*}}loads-in-lanes
kernel void sums(global const int *a, global int *out, int n) {
  int sum = 0;
  #pragma unroll 4
  for (int k = 0; k < n; k += 4)
    sum += a[k] + a[k + 1] + a[k + 2] + a[k + 3];
  out[get_global_id(0)] = out[sum] + sum;
}
kernel void product(global const int *a, global int *out, int n) {
  int i = get_global_id(0), sum = 0;
  for (int k = 0; k < n; k++)
    for (int j = 0; j < 9; j++)
      sum = (sum ^ (a[k] + i)) * 77 + (sum >> 3) + (sum << 7);
  out[i] = sum;
}
