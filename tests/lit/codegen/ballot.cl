// A vote is one ballot, whose result is a pair of scalar registers: no loop over the lanes, no shuffle.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// CHECK-LABEL: vote
// CHECK-NOT: shuffle
// CHECK: ballot s{{\[[0-9]+:[0-9]+\]}}, p{{[0-9]+}}
// CHECK-NOT: shuffle
kernel void vote(global const int *a, global int *o) {
  o[get_global_id(0)] = sub_group_any(a[get_global_id(0)]);
}
