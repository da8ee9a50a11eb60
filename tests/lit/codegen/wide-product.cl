// The upper half of a product of 64 bits is one instruction; of 128 bits three more are needed.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK-LABEL: "name":"unsigned_half"
// CHECK-NOT: mul.b64
// CHECK: mulhi.u64
// CHECK-NEXT: st.global
kernel void unsigned_half(global ulong *x) { x[get_global_id(0)] = mul_hi(x[get_global_id(0)], x[get_global_id(0) + 7]); }

// CHECK-LABEL: "name":"signed_half"
// CHECK: mulhi.s64
// CHECK-NEXT: st.global
kernel void signed_half(global long *x) { x[get_global_id(0)] = (long)((__int128)x[get_global_id(0)] * x[get_global_id(0) + 7] >> 64); }

// CHECK-LABEL: "name":"whole"
// CHECK-DAG: mul.b64
// CHECK-DAG: mulhi.u64
// CHECK-DAG: mad.b64
// CHECK-DAG: mad.b64
// CHECK: exit
kernel void whole(global ulong *x, global ulong *y) {
  unsigned __int128 a = (unsigned __int128)x[0] << 64 | x[1], b = (unsigned __int128)y[0] << 64 | y[1];
  unsigned __int128 c = a * b;
  x[0] = (ulong)(c >> 64);
  x[1] = (ulong)c;
}

// Not from more than 64 bits.
// CHECK-LABEL: "name":"from_96_bits"
// CHECK-DAG: mulhi.u64
// CHECK-DAG: mad.b64
// CHECK: exit
kernel void from_96_bits(global ulong *x, global ulong *y) {
  unsigned _BitInt(96) p = (unsigned _BitInt(96))x[1] << 40 | x[0];
  unsigned __int128 c = (unsigned __int128)p * (unsigned __int128)p;
  y[0] = (ulong)c;
  y[1] = (ulong)(c >> 64);
}
