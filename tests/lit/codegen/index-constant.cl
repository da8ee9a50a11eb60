// Constants that are added to an index become immediates of the accesses, which then share the rest of the address: the loads of an unrolled loop
// need one register. The bytes are the reference's.
// RUN: %heddle build %s --set memory.unaligned-vectors=false --stop-after=cleanup -o - | FileCheck %s
// RUN: %heddle run %s --kernel total --global 2 --local 1 --arg in=random:int32:100,seed=3 --arg out=zeros:int32:2,save=%t.1.npy --arg i32=90
// RUN: %heddle run %s --kernel total --no-scalarize --regfile=single --no-schedule --global 2 --local 1 --arg in=random:int32:100,seed=3 --arg out=zeros:int32:2,save=%t.2.npy --arg i32=90
// RUN: cmp %t.1.npy %t.2.npy
// CHECK: ld.global.b32 {{.*}}u32 [[AT:%[0-9]+]] + 4]
// CHECK: ld.global.b32 {{.*}}u32 [[AT]] + 8]
// CHECK: ld.global.b32 {{.*}}u32 [[AT]] + 12]
__kernel void total(__global const int *in, __global int *out, uint n) {
  int sum = 0;
#pragma unroll 4
  for (uint i = 0; i < n; i++)
    sum = sum * 3 + in[i];
  out[get_group_id(0)] = sum;
}

// An `or` of bits that may be in both adds nothing.
// CHECK-LABEL: kernel @pairs
// CHECK: or.b32 [[BOTH:%[0-9]+]],
// CHECK: shl.b32 [[BYTES:%[0-9]+]], [[BOTH]], 2
// CHECK: ld.global.b32 {{.*}}u32 [[BYTES]]]
__kernel void pairs(__global const int *in, __global int *out, uint mask) {
  uint i = get_global_id(0);
  out[i] = in[i * 3 | mask];
}

// Nor does it matter which addend of the index has the constant: the sum without it is the neighbour's.
// CHECK-LABEL: kernel @rows
// CHECK: st.global.b32
// CHECK: ld.global.b32 {{.*}}u32 [[AT:%[0-9]+]]]
// CHECK: ld.global.b32 {{.*}}u32 [[AT]] + 4]
__kernel void rows(__global const int *in, __global int *out, int n) {
  int row = get_group_id(0), sum = 0;
#pragma unroll 2
  for (int k = 0; k < n; k++)
    sum = sum * 3 + in[row * n + k];
  out[get_group_id(0)] = sum;
}
