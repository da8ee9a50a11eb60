// A narrow field of a structure argument is its whole word of the constant bank: the other fields in the word are masked off.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
typedef struct { uchar a, b, c, d; ushort e, f; } Narrow;

// CHECK-LABEL: .kernel {"name":"narrow"
// CHECK-DAG: and.b32 {{s[0-9]+}}, c[0x8], 255
// CHECK-DAG: and.b32 {{s[0-9]+}}, c[0xc], 0xffff
// CHECK: add.b32
__kernel void narrow(Narrow n, __global int *out) {
  out[get_global_id(0)] = n.a + n.e;
}
