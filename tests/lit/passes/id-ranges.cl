// LLVM knows the ranges of ids: those of the machine, and those of the kernel. With them signs need not be extended nor be divided by, and a local id is
// below the required size.
// RUN: %heddle build %s --emit ir -o - | FileCheck %s
// RUN: %heddle build %s -O0 --emit ir -o - | FileCheck %s --check-prefix=O0
// RUN: %heddle build %s --emit ir --set sm.max-work-group-size=256 -o - | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: @index(
// CHECK: call i64 @_Z12get_local_idj(i32 noundef 1){{.*}} !range ![[ID:[0-9]+]]
// CHECK-NOT: ashr
// CHECK-NOT: sext
// CHECK: urem i32
// CHECK: ret void
// O0-LABEL: @index(
// O0: call i64 @_Z12get_local_idj(
// O0-NOT: !range
__kernel void index(__global int *out) {
  int l = mad24((int)get_local_id(1), 16, (int)get_local_id(0));
  out[l] = l % 19 + (l << 8 >> 8);
}

// CHECK-LABEL: @required(
// CHECK-NOT: br i1
// CHECK: ret void
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void required(__global int *out) {
  if (get_local_id(0) < 32)
    out[get_local_id(0) + get_local_id(1)] = 1;
}

// CHECK-DAG: ![[ID]] = !{i64 0, i64 1024}
// SMALL-DAG: !{i64 0, i64 256}
