// Nothing behind a loop that never ends can be where lanes meet, but its own last block can: before, lanes that took the `if` ran on side by side, and the barrier was
// reported as divergent. Found by a program of CLsmith that never ends.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// CHECK: brad L{{[0-9]+}}, L
// CHECK: bar 1
__kernel void k(__global const int *a, __global int *b) {
  __local int s[32];
  int i = get_global_id(0), l = get_local_id(0), v = a[i];
  s[l] = v;
  for (;;) {
    if (v & 1) {
      for (int k = 0; k < v; k++)
        v = v * 3 + a[k];
      b[i] = v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    v = s[31 - l];
  }
}
