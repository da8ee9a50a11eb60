// An address of a local id and a part that is the same in the work-group takes a surface of local ids (G5, G8), which leaves least to add; a part
// that is the same in the whole work-group is computed once on entry, and steps along in the loop. The bytes are those of ordinary addresses.
// RUN: %heddle build %s --stop-after=cleanup -o - | FileCheck %s
// RUN: %heddle run %s --kernel rows --global 24 --local 8 --arg from=random:int32:4000 --arg to=zeros:int32:24,save=%t.1.npy --arg i32=32 --arg i32=100
// RUN: %heddle run %s --no-global-id --kernel rows --global 24 --local 8 --arg from=random:int32:4000 --arg to=zeros:int32:24,save=%t.2.npy --arg i32=32 --arg i32=100
// RUN: cmp %t.1.npy %t.2.npy
// CHECK: surface 0 arg 0 typed-buffer strides "4" "0" "0" base "0" ids local
// CHECK: bb0: frequency 1
// CHECK: shl.b32 [[GROUP:%[0-9]+]], group.x, 6
// CHECK: frequency 8
// CHECK: phi.b32 [[AT:%[0-9]+]], [
// CHECK: ld.global.b32{{.*}}, [t0 + [[AT]]]
// CHECK: add.b32 {{%[0-9]+}}, [[AT]], [[STEP:%[0-9]+]]
__kernel void rows(__global const int *from, __global int *to, int height, int pitch) {
  int t = get_local_id(0), sum = 0;
#pragma unroll 1
  for (int k = 0; k < height; k++)
    sum += from[get_group_id(0) * 16 + k * pitch + t] * k;
  to[get_global_id(0)] = sum;
}
