// Bytes and half words whose sign matters are loaded with it, unless they are put together from bytes.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK-LABEL: "name":"greater"
// CHECK: ld.global.s16
// CHECK: ld.global.s16
// CHECK-NEXT: max.s32
// CHECK-NEXT: st.global.u16
kernel void greater(global const short *x, global const short *y, global short *z) {
  int i = get_global_id(0);
  z[i] = max(x[i], y[i]);
}

// CHECK-LABEL: "name":"widened"
// CHECK: ld.global.s8
// CHECK-NEXT: st.global.b32
kernel void widened(global const char *x, global int *y) { y[get_global_id(0)] = x[get_global_id(0)]; }

// CHECK-LABEL: "name":"without_sign"
// CHECK: ld.global.u16
// CHECK-NEXT: st.global.b32
kernel void without_sign(global const ushort *x, global uint *y) { y[get_global_id(0)] = x[get_global_id(0)]; }

typedef struct __attribute__((packed)) { char c; short s; } packed;
// CHECK-LABEL: "name":"from_bytes"
// CHECK-COUNT-2: ld.global.u8
// CHECK: cvt.s16.s32
// CHECK: st.global.b32
kernel void from_bytes(global const packed *x, global int *y) { y[get_global_id(0)] = x[get_global_id(0)].s; }
