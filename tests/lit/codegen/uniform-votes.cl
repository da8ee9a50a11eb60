// What a ballot says, and the value that one lane has for all, is the same in all active lanes (S2): the branch does not split the warp, and the number
// stays in a scalar register.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle run %s --kernel votes --global 96 --local 32 --arg a=random:int32:96,low=0,high=5 --arg o=zeros:int32:96,save=%t.1.npy
// RUN: %heddle run %s --no-scalarize --kernel votes --global 96 --local 32 --arg a=random:int32:96,low=0,high=5 --arg o=zeros:int32:96,save=%t.2.npy
// RUN: cmp %t.1.npy %t.2.npy
// CHECK-LABEL: "name":"votes"
// CHECK: ballot [[LANES:s\[[0-9]+:[0-9]+\]]], p{{[0-9]+}}
// CHECK-NOT: brad
// CHECK: bras
// CHECK: shfl.b32 [[OF_LANE:[lm][0-9]+]],
// CHECK: first.b32 s{{[0-9]+}}, [[OF_LANE]]
kernel void votes(global const int *a, global int *o) {
  size_t i = get_global_id(0);
  int mine = a[i], sum = mine;
  if (sub_group_any(mine == 4)) {
    int first = sub_group_broadcast(mine, 3);
    for (int k = 0; k < first; k++)
      sum = sum * 3 + first;
  }
  o[i] = sum;
}
