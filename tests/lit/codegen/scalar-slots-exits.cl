// S5: a counter that lanes take with them when they leave a loop at different times is copied to lanes in each iteration. Where
// the scalar unit's slots limit the loop already, the counter is in lanes; where they do not, it is scalar, as it is where
// nobody wants it behind the loop.
// RUN: %heddle build %s -fno-unroll-loops --target %root/machines/mixed.toml --emit asm -o - | FileCheck %s
// RUN: %heddle build %s -fno-unroll-loops --target %root/machines/mixed.toml --set sm.scalar-issue=4 --emit asm -o - | FileCheck %s --check-prefix=SCALAR

// CHECK: .kernel {"name":"escapes"
// CHECK: [[LOOP:L[0-9]+]]:
// CHECK-NOT: mov.b32.u {{.*}}, s
// CHECK: add.b32 {{[lm][0-9]+}}, {{[lm][0-9]+}}, 1
// CHECK: brad [[LOOP]]
// CHECK: .kernel {"name":"unwanted"
// CHECK: [[LOOP:L[0-9]+]]:
// CHECK: add.b32 s{{[0-9]+}}, s{{[0-9]+}}, 1
// CHECK: bras{{.*}} [[LOOP]]
// SCALAR: .kernel {"name":"escapes"
// SCALAR: [[LOOP:L[0-9]+]]:
// SCALAR: mov.b32.u {{[lm][0-9]+}}, s
// SCALAR: add.b32 s{{[0-9]+}}, s{{[0-9]+}}, 1
kernel void escapes(global int *out, int limit) {
  float c = (float)get_global_id(0), x = 0.0f, y = 0.0f;
  int i = 0;
  for (; i < limit; ++i) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f)
      break;
    y = 2.0f * x * y + c;
    x = xx - yy + c;
  }
  out[get_global_id(0)] = i;
}
kernel void unwanted(global float *out, int limit) {
  float c = (float)get_global_id(0), x = 0.0f, y = 0.0f;
  for (int i = 0; i < limit; ++i) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f)
      break;
    y = 2.0f * x * y + c;
    x = xx - yy + c;
  }
  out[get_global_id(0)] = x + y;
}
