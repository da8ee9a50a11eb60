// Arguments that no operand names are loaded: pointers and numbers on entry, once; fields of structures where they are read.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --no-scalarize --emit asm -o - | FileCheck %s --check-prefix=LANES
typedef struct { int f[2], g[256]; } Large;

// CHECK-LABEL: .kernel {"name":"far"
// CHECK-DAG: ld.argument.b32 [[N:s[0-9]+]], [1048]
// CHECK-DAG: ld.argument.b32 [[LAST:s[0-9]+]], [1036]
// CHECK-NOT: ld.argument
// CHECK: st.global.b32{{.*}} [t0],
__kernel void far(Large l, __global int *out, int n) {
  int i = get_global_id(0), sum = l.g[255];
  for (int k = 0; k < n; k++)
    sum = sum * i + n;
  out[i] = sum;
}

// A pointer that is no surface is a base, or without the scalar unit an address.
// CHECK-LABEL: .kernel {"name":"pointer"
// CHECK: ld.argument.b64 [[P:s\[[0-9:]+\]]], [1048]
// CHECK: ld.global.b32{{.*}} {{[lm][0-9]+}}, {{\[}}[[P]] + u32
// LANES-LABEL: .kernel {"name":"pointer"
// LANES: ld.argument.b64{{.*}} {{[lm]\[[0-9:]+\]}}, [1048]
// LANES: ld.global.b32
__kernel void pointer(Large l, __global int *out, __global const int *in, int n) {
  int i = get_global_id(0);
  out[i] = in[(i * i) ^ n];
}

// No other pointer reaches what `p` does, but `q` may be `r`.
// CHECK-LABEL: .kernel {"name":"order"
// CHECK: st.global.b32{{.*}} [t1]
// CHECK: ld.global.b32{{.*}} [t2]
__kernel void order(__global const int *restrict p, __global int *r, Large l, __global const int *q, __global int *out) {
  int i = get_global_id(0), x = p[i];
  r[i] = x * l.g[3];
  out[i] = q[i] + x;
}

// A number in the address of a surface.
// LANES-LABEL: .kernel {"name":"number"
// LANES: ld.argument.b32
// CHECK-LABEL: .kernel {"name":"number"
// CHECK: ld.argument.b32 [[M:s[0-9]+]], [1060]
// CHECK: mul.b32 {{s[0-9]+}}, [[M]], group.x
__kernel void number(Large l, __global const int *q, __global int *out, int n, int m) {
  out[get_global_id(0)] = q[get_global_id(0) + get_group_id(0) * m];
}
