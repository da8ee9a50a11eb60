// Arguments that no operand names are loaded: pointers and numbers on entry, once; fields of structures where they are read.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
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
