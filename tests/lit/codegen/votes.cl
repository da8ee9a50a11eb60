// A vote on a comparison takes the predicate as it is.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK: cmp.ge.s32 [[P:p[0-9]+]], gid.x, c[{{.*}}]
// CHECK-NEXT: ballot {{.*}}, [[P]]
// CHECK-NOT: sel.
// CHECK: exit
kernel void vote(global int *a, int n) {
  int all = sub_group_all((int)get_global_id(0) < n);
  a[get_global_id(0)] = all;
}
