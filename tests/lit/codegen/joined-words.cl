// Words that a program draws together to 64 bits, or takes out of what it shifted, are moved, not computed with.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK: .kernel {"name":"joined"
// CHECK-NOT: {{shl|or\.|add}}
// CHECK: st.global.b64{{.*}} [t{{[0-9]}}], {{[lm]}}[
// CHECK: exit
__kernel void joined(__global ulong *out, __global const uint *low, __global const uint *high) {
  size_t g = get_global_id(0);
  out[g] = (ulong)high[g] << 32 | low[g];
}

// One funnel shift.
// CHECK: .kernel {"name":"funnel"
// CHECK-NOT: {{shl|or\.|shr}}
// CHECK: fshr.b32 {{.*}}, 20
// CHECK-NOT: {{shl|or\.|shr}}
// CHECK: exit
__kernel void funnel(__global uint *out, __global const uint *low, __global const uint *high) {
  size_t g = get_global_id(0);
  out[g] = (uint)(((ulong)high[g] << 32 | low[g]) >> 20);
}

// The index before the first, of an int: words, and no sum of 64 bits.
// CHECK: .kernel {"name":"before"
// CHECK-NOT: 64
// CHECK: sel.b32
// CHECK-NOT: 64
// CHECK: exit
__kernel void before(__global float *out, __global const float *in) {
  int g = get_global_id(0);
  out[g] = in[g > 0 ? g - 1 : 0];
}
