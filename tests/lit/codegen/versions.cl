// S3: a kernel with loads or branches in loops that are uniform where rows of work-groups fill warps has a version for
// launches of that kind, behind all kernels. There is none where only other values would be, where a work-group size is
// required, or with --no-versions.
// RUN: %heddle build %s --set memory.unaligned-vectors=false --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --set memory.unaligned-vectors=false --emit asm -o - --no-versions | FileCheck %s --check-prefix=ONE
// RUN: %heddle build %s --set memory.unaligned-vectors=false --emit asm -o - --no-scalarize | FileCheck %s --check-prefix=ONE
// RUN: %heddle build %s --set memory.unaligned-vectors=false --stop-after select -o %t.mir
// RUN: FileCheck %s --check-prefix=MIR < %t.mir
// RUN: %heddle build %t.mir --set memory.unaligned-vectors=false --emit asm -o - | FileCheck %s
// CHECK: .kernel {"name":"sums",{{.*}}"whole_work_groups":false,"short_ids":true,"warp_size":32}
// CHECK-NOT: {{(ld|ldu)}}.global.b32{{[.a-z]*}} s{{[0-9]}}
// CHECK: .kernel {"name":"columns"
// CHECK-NOT: rows_fill_warps
// CHECK: .kernel {"name":"fixed"
// CHECK: .kernel {"name":"sums",{{.*}}"rows_fill_warps":true,"relieves_data_l1":true,"warp_size":32}
// CHECK: {{(ld|ldu)}}.global.b32{{[.a-z]*}} s{{[0-9]}}
// CHECK-NOT: .kernel
// ONE-NOT: rows_fill_warps
// MIR: kernel @sums stage ssa local 0 private 0 short-ids {
// MIR: kernel @sums stage ssa local 0 private 0 short-ids rows-fill-warps relieves-data-l1 {
kernel void sums(global const float *restrict a, global const float *restrict b, global float *c, int n) {
  int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
kernel void columns(global float *a) {
  a[get_global_id(0)] += get_global_id(1) * 3;
}
kernel __attribute__((reqd_work_group_size(16, 4, 1))) void fixed(global float *a, int n) {
  a[get_global_id(0)] += a[get_global_id(1) * n];
}
