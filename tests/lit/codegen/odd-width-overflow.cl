// Sums, differences and products that overflow a width that the machine has not: 33 bits, of `int` and `unsigned`, and
// others, which no register ends at. The expected values are clang's for the host.
// RUN: %heddle run %s --kernel k --global 4 --local 4 --arg out=zeros:int64:4x12,save=%t.npy --mode timing --check=all --verify
// RUN: od -An -v -w96 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
// CHECK: 1 0 1 0 0 0 0 2147483648 0 1 1 1
// CHECK-NEXT: 0 0 1 1 0 1 0 4294967296 0 0 0 0
// CHECK-NEXT: 1 0 0 0 0 0 1 -549755813888 0 0 0 1
// CHECK-NEXT: 1 0 0 0 0 0 1 -549755813888 1 1 1 1
__constant long a[] = {-2147483648L, -1, 65536, 65536, 274877906944L, 67108866, -549755813888L, -1};
__kernel void k(__global long *out) {
  long i = get_global_id(0), x = a[2 * i], y = a[2 * i + 1];
  __global long *o = out + 12 * i;
  unsigned r;
  o[0] = __builtin_sub_overflow((int)x, (unsigned)y, &r);
  o[1] = __builtin_add_overflow((int)x, (unsigned)y, &r);
  o[2] = __builtin_mul_overflow((int)x, (unsigned)y, &r);
  unsigned _BitInt(24) u24;
  o[3] = __builtin_mul_overflow((unsigned _BitInt(24))x, (unsigned _BitInt(24))y, &u24);
  o[4] = u24;
  _BitInt(24) s24;
  o[5] = __builtin_mul_overflow((_BitInt(24))x, (_BitInt(24))y, &s24);
  _BitInt(40) s40;
  o[6] = __builtin_mul_overflow((_BitInt(40))x, (_BitInt(40))y, &s40);
  o[7] = s40;
  o[8] = __builtin_add_overflow((_BitInt(40))x, (_BitInt(40))y, &s40);
  unsigned _BitInt(40) u40;
  o[9] = __builtin_add_overflow((unsigned _BitInt(40))x, (unsigned _BitInt(40))y, &u40);
  o[10] = __builtin_sub_overflow((unsigned _BitInt(40))x, (unsigned _BitInt(40))y, &u40);
  o[11] = __builtin_mul_overflow((unsigned _BitInt(40))x, (unsigned _BitInt(40))y, &u40);
}
