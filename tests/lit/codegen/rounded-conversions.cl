// A rounding before a conversion to an integer is part of it, conversions that clamp are one instruction, and those of bytes and
// half words read the low bits themselves.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK-LABEL: "name":"clamping"
// CHECK: ld.global
// CHECK-NEXT: cvt.u8.f32 l
// CHECK-NEXT: st.global.u8
kernel void clamping(global const float *x, global uchar *y) { y[get_global_id(0)] = convert_uchar_sat_rte(x[get_global_id(0)]); }

// CHECK-LABEL: "name":"down"
// CHECK: ld.global
// CHECK-NEXT: cvt.s32.f32.rm
// CHECK-NEXT: st.global
kernel void down(global const float *x, global int *y) { y[get_global_id(0)] = (int)floor(x[get_global_id(0)]); }

// Half away from zero: with the number below a half added.
// CHECK-LABEL: "name":"half_away"
// CHECK: copysign.f32 {{.*}}, 0x3effffff
// CHECK-NEXT: add.f32
// CHECK-NEXT: cvt.s32.f32.rz
// CHECK-NEXT: st.global
kernel void half_away(global const float *x, global int *y) { y[get_global_id(0)] = (int)round(x[get_global_id(0)]); }

// CHECK-LABEL: "name":"bytes"
// CHECK-NOT: and.b32
// CHECK-COUNT-4: cvt.f32.u8
// CHECK-NOT: and.b32
// CHECK: exit
kernel void bytes(global const uchar4 *x, global float4 *y) { y[get_global_id(0)] = convert_float4(x[get_global_id(0)]); }
