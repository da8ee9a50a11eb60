// S5, G5: where the scalar slots and the loads of a loop are equally scarce, its pointers step in lanes and not on the scalar unit;
// accesses outside of the loop keep their addresses of ids. Not where the scalar unit issues as much as the clusters do.
// RUN: %heddle build %s --target %root/machines/mixed.toml --no-versions --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --target %root/machines/mixed.toml --no-versions --set sm.scalar-issue=4 --emit asm -o - | FileCheck %s --check-prefix=IDS
// RUN: %heddle build %s --no-versions --emit asm -o - | FileCheck %s --check-prefix=IDS

// CHECK: .kernel {"name":"product"
// CHECK: [[LOOP:L[0-9]+]]:
// CHECK-NEXT: c3 ld.global.b32 {{[lm][0-9]+}}, [c[0x8] + u32 {{[lm][0-9]+}}]
// CHECK-NEXT: c3 ld.global.b32 {{[lm][0-9]+}}, [c[0x10] + u32 {{[lm][0-9]+}}]
// CHECK: bras.z {{.*}} [[LOOP]]
// CHECK: c3 st.global.b32{{.*}} [t{{[0-9]+}}]
// IDS: .kernel {"name":"product"
// IDS: ld.global.b32 {{[lm][0-9]+}}, [t0 + s{{[0-9]+}}]
// IDS: ld.global.b32 {{[lm][0-9]+}}, [t1 + s{{[0-9]+}}]
kernel void product(global const float *a, global const float *b, global float *c, int n, int width) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k)
    sum += a[y * n + k] * b[k * width + x];
  c[y * width + x] = sum;
}
