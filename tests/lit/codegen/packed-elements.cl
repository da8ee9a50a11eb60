// Words of elements of 8 and 16 bits: what was loaded as words is stored as words, logic on elements in their places is logic on
// words, an element by number is shifted out of its word, and others are put together by funnel shifts, without masks.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// CHECK-LABEL: .kernel {"name":"copied"
// CHECK: ld.global.b128{{.*}} [[WORDS:l\[[0-9:]+\]]], [t0]
// CHECK-NEXT: st.global.b128{{.*}} [t1], [[WORDS]]
// CHECK-NEXT: exit
__kernel void copied(__global const uchar16 *a, __global uchar16 *out) {
  int i = get_global_id(0);
  out[i] = a[i];
}

// CHECK-LABEL: .kernel {"name":"masked"
// CHECK: ld.global.b32
// CHECK-NEXT: and.b32 [[MASKED:[lm][0-9]+]], {{.*}}, 0xff0f0f0f
// CHECK-NEXT: xor.b32 {{.*}}, [[MASKED]], 0x3030303
// CHECK-NEXT: st.global.b32
__kernel void masked(__global const uchar4 *a, __global uchar4 *out) {
  int i = get_global_id(0);
  out[i] = (a[i] & (uchar4)(15, 15, 15, 255)) ^ (uchar4)(3);
}

// CHECK-LABEL: .kernel {"name":"numbered"
// CHECK-NOT: cmp
// CHECK: shl.b32 [[BIT:[lm][0-9]+]], {{.*}}, 3
// CHECK-NEXT: shr.u32 {{.*}}, [[BIT]]
// CHECK-NOT: cmp
__kernel void numbered(__global const uchar4 *a, __global const uint *n, __global uchar *out) {
  int i = get_global_id(0);
  out[i] = a[i][n[i]];
}

// CHECK-LABEL: .kernel {"name":"rotated"
// CHECK: fshr.b32 {{.*}}, 16
// CHECK-NEXT: fshr.b32 {{.*}}, 16
// CHECK-NEXT: st.global.b64
__kernel void rotated(__global const ushort4 *a, __global ushort4 *out) {
  int i = get_global_id(0);
  out[i] = a[i].yxwz;
}

// CHECK-LABEL: .kernel {"name":"computed"
// CHECK-NOT: and.b32
// CHECK: shl.b32 {{.*}}, 24
// CHECK-COUNT-3: fshr.b32 {{.*}}, 8
// CHECK-NEXT: st.global.b32
__kernel void computed(__global const uchar4 *a, __global const uchar4 *b, __global uchar4 *out) {
  int i = get_global_id(0);
  out[i] = a[i] + b[i];
}
