// Tests for 0 behind a division stay, and constant divisions by 0 end nothing; where no result of a division meets the test, no
// instruction is added.
// RUN: %heddle build %s -w --emit asm --no-versions -o - | FileCheck %s
// RUN: %heddle build %s -w -O0 --emit asm --no-versions -o - | FileCheck %s --check-prefix=PLAIN
// RUN: %heddle build %s -w -fno-unroll-loops --emit asm --no-versions -o - | FileCheck %s

// CHECK-LABEL: "name":"tested"
// CHECK: cmp.eq.b32 [[ZERO:s[0-9]+]], c[0x18], 0
// CHECK-NOT: max
// CHECK: div.s32 {{.*}}, c[0x18]
// CHECK: sel.b32 {{.*}}, [[ZERO]], -77
// PLAIN-LABEL: "name":"tested"
// PLAIN: -77
kernel void tested(global int *o, global const int *a, int d) {
  int i = get_global_id(0);
  int q = a[i] / d;
  o[i] = d == 0 ? -77 : q;
}

// CHECK-LABEL: "name":"plain"
// CHECK-NOT: max
// CHECK-NOT: sel
// CHECK: rem.u32
// CHECK: exit
kernel void plain(global uint *o, global const uint *d) {
  int i = get_global_id(0);
  o[i] = o[i] % d[i];
}

// CHECK-LABEL: "name":"by_constant"
// CHECK: st.global
// CHECK: exit
// PLAIN-LABEL: "name":"by_constant"
// PLAIN: st.global
kernel void by_constant(global int *o) {
  int x = 5, y = x / 0;
  o[get_global_id(0)] = y > 3 ? 1 : 2;
}

// What clang has divided is a number wherever it is used.
// CHECK-LABEL: "name":"of_other_types"
// CHECK: st.global
// CHECK: exit
// PLAIN-LABEL: "name":"of_other_types"
// PLAIN: st.global
// PLAIN: exit
int helper(int a) { return a + 1; }
kernel void of_other_types(global int *o, int4 w) {
  float f = 1 / 0, g = (float4)(1 / 0, 1, 2, 3).x;
  global int *p = (global int *)(ulong)(1 / 0);
  w[3 / 0] = 7;
  if (f > 3.0f || g > 2.0f || p == o + 1 || w[0] == 5)
    o[0] = helper(1);
  else
    o[0] = 2;
  o[(int)f & 3] += 7;
}
