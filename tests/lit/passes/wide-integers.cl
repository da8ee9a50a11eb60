// How often a loop over `long` goes round LLVM computes with 128 bits, divided by the step: word by word with 64 bits.
// RUN: %heddle build %s --emit ir -o - | FileCheck %s
// RUN: %heddle build %s --verify -o /dev/null

// CHECK-LABEL: @steps
// CHECK-NOT: udiv i128
// CHECK-COUNT-4: udiv i64 {{.*}}, 3
// CHECK-NOT: llvm.smax.i128(i128 %
// CHECK: ret void
kernel void steps(global const uint *in, global long *out, long n, long a) {
  uint s = in[get_global_id(0)];
  for (long i = -a; i <= n; i += 3) {
    if ((s & 0x1700) == 0) {
      out[get_global_id(0)] = i;
      continue;
    }
    s += in[(i * 3) & 4095];
  }
  out[get_global_id(0)] += s;
}

// A product with a power of two that is not known is a shift of 128 bits: whole words first, then bits of the neighbour.
// CHECK-LABEL: @upper_half
// CHECK: and i64 %{{.*}}, 64
// CHECK: select i1 %{{.*}}, i128
// CHECK: and i64 %{{.*}}, 63
// CHECK: ret void
kernel void upper_half(global const uint *in, global ulong *out) {
  size_t i = get_global_id(0);
  out[i] = mul_hi(out[i], 1ul << (in[i] & 63));
}
