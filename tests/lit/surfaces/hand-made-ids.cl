// Global ids that programs make of work-group ids, sizes and local ids (G8): as many instructions as with get_global_id,
// and the same bytes with and without surfaces, with a smaller last work-group, and from an offset.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefixes=CHECK,RAGGED
// RUN: %heddle build %s --emit asm -cl-std=CL1.2 -o - | FileCheck %s
// RUN: %heddle build %s --emit asm -cl-uniform-work-group-size -o - | FileCheck %s
// RUN: %heddle run %s --kernel hand --global 37,5 --local 8,2 --arg from=random:int32:400 --arg to=zeros:int32:400,save=%t.1.npy --arg i32=40
// RUN: %heddle run %s --no-global-id --kernel hand --global 37,5 --local 8,2 --arg from=random:int32:400 --arg to=zeros:int32:400,save=%t.2.npy --arg i32=40
// RUN: cmp %t.1.npy %t.2.npy
// RUN: %heddle run %s --kernel hand --global 32,4 --local 8,2 --arg from=random:int32:400 --arg to=zeros:int32:400,save=%t.3.npy --arg i32=40
// RUN: %heddle run %s --kernel ready --global 32,4 --local 8,2 --arg from=random:int32:400 --arg to=zeros:int32:400,save=%t.4.npy --arg i32=40
// RUN: cmp %t.3.npy %t.4.npy
// CHECK: .kernel {{.*}}"name":"hand"
// RAGGED-SAME: "ids":"relative","strides":["4","4*c[0x18]","0"],"base":"0"
// CHECK-NEXT: cmp.lt.s32 [[IN:p[0-9]+]], rid.x, c[0x18]
// CHECK-NEXT: @![[IN]] brad
// CHECK-NEXT: ld.global.b32{{.*}}, [t{{[0-9]}}]
// CHECK-NEXT: st.global.b32{{.*}} [t{{[0-9]}}], {{.*}}
// CHECK-NEXT: {{^L[0-9]+:$}}
// CHECK-NEXT: exit
__kernel void hand(__global const int *from, __global int *to, int n) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_local_id(1) + get_local_size(1) * get_group_id(1);
  if (x < n)
    to[y * n + x] = from[y * n + x];
}
// CHECK: .kernel {{.*}}"name":"ready"
// CHECK-NEXT: cmp.lt.s32 [[IN:p[0-9]+]], gid.x, c[0x18]
// CHECK-NEXT: @![[IN]] brad
// CHECK-NEXT: ld.global.b32{{.*}}, [t{{[0-9]}}]
// CHECK-NEXT: st.global.b32{{.*}} [t{{[0-9]}}], {{.*}}
// CHECK-NEXT: {{^L[0-9]+:$}}
// CHECK-NEXT: exit
__kernel void ready(__global const int *from, __global int *to, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < n)
    to[y * n + x] = from[y * n + x];
}
