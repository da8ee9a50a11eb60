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

// A structure is aligned as C has it, although its type in LLVM, with a packed one at a byte of its own, is aligned to bytes.
// CHECK-LABEL: .kernel {"name":"aligned"
// CHECK-SAME: "name":"h","type_name":"Holder","kind":"value","offset":24,"size":16,"align":8
typedef struct { uchar first; Packed p; long last; } Holder;
__kernel void aligned(__global long *out, int n, Holder h) {
  out[get_global_id(0)] = h.last + h.p.b + n;
}
