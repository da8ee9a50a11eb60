// A field of a packed structure argument that no word of the constant bank begins with is shifted out of two.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
typedef struct __attribute__((packed)) { uchar a; uint b; ushort c; } Packed;

// CHECK-LABEL: .kernel {"name":"word"
// CHECK: fshr.b32 [[WORD:s[0-9]+]], c[0xc], c[0x8], 8
// CHECK-NEXT: st.global.b32{{.*}} [t0], [[WORD]]
__kernel void word(Packed p, __global uint *out) {
  out[get_global_id(0)] = p.b;
}

// CHECK-LABEL: .kernel {"name":"inside"
// CHECK: shr.u32 [[HALF:s[0-9]+]], c[0xc], 8
// CHECK-NEXT: st.global.u16{{.*}} [t0], [[HALF]]
__kernel void inside(Packed p, __global ushort *out) {
  out[get_global_id(0)] = p.c;
}
