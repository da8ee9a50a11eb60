// Behind loads of more words than may wait in registers for short latencies, chains stand one after the other in the usual order.
// The order for the sake of latencies lets them take turns; it costs less here, though more of its values are in the main file. Where
// fewer warps would find room for them, they stand as they did.
// RUN: %heddle build %s --stop-after schedule -o - | FileCheck %s
// RUN: %heddle build %s --stop-after schedule --set sm.main-registers=16384 -o - | FileCheck %s --check-prefix=FULL
// CHECK: ld.local
// CHECK: fma.f32 {{.*}} ; 1.5
// CHECK-NEXT: fma.f32 {{.*}} ; 1.5
// CHECK-NEXT: fma.f32 {{.*}} ; 1.5
// FULL: ld.local
// FULL: fma.f32 {{.*}} ; 1.5
// FULL-NEXT: fma.f32 {{.*}} ; 2.5
// FULL-NEXT: fma.f32 {{.*}} ; 3.5
#define CHAIN(x) fma(fma(fma(fma(fma(x, x, 1.5f), x, 2.5f), x, 3.5f), x, 4.5f), x, 5.5f)
kernel void polynomials(global const float4 *in, global float *out, local float4 *t, int n) {
  int l = get_local_id(0);
  t[2 * l] = in[2 * l];
  t[2 * l + 1] = in[2 * l + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int k = 0; k < n; k++) {
    float4 x = t[2 * k + l], y = t[2 * k + 1 + l];
    float a = CHAIN(x.s0), b = CHAIN(x.s1), c = CHAIN(x.s2), d = CHAIN(x.s3);
    sum += a * y.x + b * y.y + c * y.z + d * y.w;
  }
  out[l] = sum;
}
