// Ids and sizes are words: quotients and remainders of such are divisions of words, by constants none at all. Not where an operand may
// have a high word.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s

// CHECK: .kernel {"name":"by_constant"
// CHECK-NOT: div
// CHECK: mulhi.u32 {{.*}}, gid.x, 0xcccccccd
// CHECK-NOT: div
// CHECK: exit
__kernel void by_constant(__global int *out) {
  size_t g = get_global_id(0), row = g / 10, column = g % 10;
  out[g] = row * 3 + column * 7;
}

// CHECK: .kernel {"name":"by_size"
// CHECK: div.u32 {{.*}}, gid.x, lsize.x
// CHECK: rem.u32 {{.*}}, gid.y, c[0x10]
// CHECK: exit
__kernel void by_size(__global int *out, uint width) {
  out[get_global_id(0)] = get_global_id(0) / get_local_size(0) + get_global_id(1) % width;
}

// CHECK: .kernel {"name":"signed_width"
// CHECK: div.u64
// CHECK: exit
__kernel void signed_width(__global int *out, int width) { out[get_global_id(0)] = get_global_id(0) / width; }

// CHECK: .kernel {"name":"forty_bits"
// CHECK: div.u64
// CHECK: exit
__kernel void forty_bits(__global ulong *out, __global const ulong *in) {
  unsigned _BitInt(40) x = in[get_global_id(0)];
  out[get_global_id(0)] = (ulong)x / 7;
}
