// K7 in code: a stream is `.cs`, what the next iterations read again `.ca` (no suffix), a uniform read-only load `ldu`, what others may write `.cg`, volatile `.cv` and `.wt`; explicit
// accesses, prefetches and cache control of heddle.h as they are written. Without hints only what correctness needs is left.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --emit asm --no-cache-hints -o - | FileCheck %s --check-prefix=NONE
// RUN: %heddle build %s --emit asm --cache-hints=cg -o - | FileCheck %s --check-prefix=CG
// RUN: %heddle build %s --emit asm --prefetch -o - | FileCheck %s --check-prefix=PREFETCH
#include <heddle.h>

// CHECK-LABEL: "name":"stream"
// CHECK: ld.global.b32.cs
// CHECK: ld.global.b32 {{.*}} + 12]
// CHECK: st.global.b32
// NONE-LABEL: "name":"stream"
// NONE-NOT: .cs
// NONE-NOT: ldu
// NONE: exit
// CG-LABEL: "name":"stream"
// CG: ld.global.b32.cg
// CG: st.global.b32.cg
__kernel void stream(__global const float *restrict a, __global const float *restrict scale, __global float *restrict b) {
  size_t i = get_global_id(0);
  b[i] = a[i] * scale[3];
}

// What is one address for all lanes goes the other way where rows of lanes fill the data L1.
// CHECK-LABEL: "name":"product"
// CHECK: ld.global.b32
// CHECK: ldu.global.b32
// NONE-LABEL: "name":"product"
__kernel void product(__global const float *restrict a, __global const float *restrict x, __global float *restrict b, int n) {
  size_t i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[i * n + k] * x[k];
  b[i] = sum;
}

// CHECK-LABEL: "name":"columns"
// CHECK: ld.global.b32.cs
// CHECK-NOT: cctl
// PREFETCH-LABEL: "name":"columns"
// PREFETCH: cctl.d.pf1 {{.*}} + 65536]
__kernel void columns(__global const float *restrict a, __global float *restrict b) {
  size_t i = get_global_id(0);
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 100; k++)
    sum += a[i + k * 4096] * sum;
  b[i] = sum;
}

// CHECK-LABEL: "name":"rows"
// CHECK: ld.global.b32 {{[lm]}}
__kernel void rows(__global const float *restrict a, __global float *restrict b, int n) {
  size_t i = get_global_id(0);
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    sum += a[i * n + k] * sum;
  b[i] = sum;
}

// CHECK-LABEL: "name":"others"
// CHECK: ld.global.b32.cg
// NONE-LABEL: "name":"others"
// NONE: ld.global.b32.cg
__kernel void others(__global int *data, __global int *count) {
  atomic_inc(count);
  data[get_global_id(0)] += data[get_global_id(0) ^ 1];
}

// CHECK-LABEL: "name":"volatiles"
// CHECK: ld.global.b32.cv
// CHECK: st.global.b32.wt
__kernel void volatiles(volatile __global int *a) { a[get_global_id(0)]++; }

// CHECK-LABEL: "name":"explicit"
// CHECK: ld.global.b128.cg
// CHECK: ld.global.b64.cv
// CHECK: ldu.global.u16
// CHECK: ld.global.b32.cs
// CHECK: st.global.b32.wt
// CHECK: cctl.d.pf1 [
// CHECK: cctl.u.pf1.5 [
// CHECK: cctl.d.pf2 [
// CHECK: cctl.d.pf2 [
// CHECK: cctl.d.qry1 {{[lm]}}
// CHECK: cctl.d.wb [
// CHECK: cctl.d.iv [
// CHECK: cctl.d.rs [
// CHECK: cctl.d.ivall [0]
__kernel void explicit(__global float4 *a, __global double *b, __global ushort *c, __global int *d) {
  size_t i = get_global_id(0);
  a[i] += heddle_load_cg(a + i + 1) + (float)heddle_load_cv(b + i) + heddle_load_uniform(c) + __builtin_nontemporal_load(d + i);
  heddle_store_wt(d + i, 3);
  heddle_prefetch_l1(a + i + 100);
  heddle_prefetch_l15(a + i + 100);
  heddle_prefetch_l2(a + i + 100);
  prefetch(a + i + 200, 4);
  d[i] = heddle_cache_query(a);
  heddle_cache_write_back(a);
  heddle_cache_invalidate(a);
  heddle_cache_discard(a);
  heddle_cache_invalidate_all();
}
