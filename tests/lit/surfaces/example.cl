// G-ex1: float4 VectorAdd with pitched addresses. With global-ID addresses: two surface loads, the add (four lanes of a float4, the machine has no packed
// add), one surface store, exit; no integer instruction. The driver gets the pitches as strides (G7). Without: the conventional arithmetic, and the same bytes.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit asm --no-global-id -o - | FileCheck %s --check-prefix=CONVENTIONAL
// RUN: %heddle run %s --kernel VectorAdd --global 40,12 --local 20,3 --arg A=random:float32:4096 --arg B=random:float32:4096,seed=2 --arg C=zeros:float32:4096,save=%t.with.npy --arg i32=47 --arg i32=49 --arg i32=41
// RUN: %heddle run %s --no-global-id --kernel VectorAdd --global 40,12 --local 20,3 --arg A=random:float32:4096 --arg B=random:float32:4096,seed=2 --arg C=zeros:float32:4096,save=%t.without.npy --arg i32=47 --arg i32=49 --arg i32=41
// RUN: cmp %t.with.npy %t.without.npy
// CHECK: .kernel
// CHECK-SAME: "argument":0,"kind":"typed-buffer","strides":["16","16*c[0x20]","0"]
// CHECK-SAME: "argument":1,"kind":"typed-buffer","strides":["16","16*c[0x24]","0"]
// CHECK-SAME: "argument":2,"kind":"typed-uav","strides":["16","16*c[0x28]","0"]
// CHECK-NEXT: ld.global.b128.cs {{.*}}, [t0(5, 2)]
// CHECK-NEXT: ld.global.b128.cs {{.*}}, [t1(6, 3)]
// CHECK-NEXT: add.f32
// CHECK-NEXT: add.f32
// CHECK-NEXT: add.f32
// CHECK-NEXT: add.f32
// CHECK-NEXT: st.global.b128 [t2], {{.*}}
// CHECK-NEXT: exit
// CONVENTIONAL-NOT: [t
// CONVENTIONAL: {{(mul|mad).b32}}
__kernel void VectorAdd(__global const float4 *A, __global const float4 *B, __global float4 *C, int WA, int WB, int WC) {
  int x = get_global_id(0), y = get_global_id(1);
  C[y * WC + x] = A[(y + 2) * WA + x + 5] + B[(y + 3) * WB + x + 6];
}
