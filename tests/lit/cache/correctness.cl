// K7: what must not come from a cache that is not coherent, and what may come from the uniform cache.
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='heddle-prepare,print<cache-hints>' --disable-output %t.ll | FileCheck %s

// CHECK-LABEL: cache hints of observed:
// CHECK-NEXT: %a: load cv, volatile
// CHECK-NEXT: %b: store wt, volatile
__kernel void observed(__global volatile int *a, __global volatile int *b) { b[get_global_id(0)] = a[get_global_id(0)]; }

// The programmer knows better than the analysis: neighbours, and yet streams.
// CHECK-LABEL: cache hints of non_temporal:
// CHECK-COUNT-2: %a: load cs, non-temporal
// CHECK-NEXT: %b: store cs, non-temporal
__kernel void non_temporal(__global const int *a, __global int *b) {
  int i = get_global_id(0);
  __builtin_nontemporal_store(__builtin_nontemporal_load(a + i) + __builtin_nontemporal_load(a + i + 1), b + 3 * i);
}

// The last work-group sums up what the others wrote.
// CHECK-LABEL: cache hints of last_group:
// CHECK-NEXT: %a: load cs, touched once
// CHECK-NEXT: %partial: store wb
// CHECK: %partial: load cg, other work-groups may write it
__kernel void last_group(__global const int *restrict a, __global int *partial, __global int *counter, int n) {
  int i = get_global_id(0);
  partial[i] = a[i];
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(counter) != n - 1)
    return;
  int s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += partial[k];
  partial[0] = s;
}

// A fence alone is communication enough.
// CHECK-LABEL: cache hints of fence:
// CHECK-NEXT: %a: store
// CHECK-NEXT: %a: load cg, other work-groups may write it
__kernel void fence(__global int *a, __global int *b) {
  int i = get_global_id(0);
  a[i] = i;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  b[i] = a[i + 64];
}

// A barrier is not: it orders a work-group, whose stores discard the line.
// CHECK-LABEL: cache hints of group_barrier:
// CHECK: %a: load ca, reused by neighbouring work-items
__kernel void group_barrier(__global int *a, __global int *b) {
  int i = get_global_id(0);
  a[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = a[i + 1];
}

// But with a volatile flag it is what passes for communication in older programs.
// CHECK-LABEL: cache hints of flag:
// CHECK: %flag: load cv, volatile
// CHECK: %a: load cg, other work-groups may write it
__kernel void flag(__global int *a, __global volatile int *flag, __global int *b) {
  int i = get_global_id(0);
  while (!*flag)
    ;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = a[i];
}

// Without `restrict` the counted data might be the counters.
// CHECK-LABEL: cache hints of histogram:
// CHECK-NEXT: %a: load cg, other work-groups may write it
__kernel void histogram(__global const uint *a, __global int *bins) { atomic_inc(&bins[a[get_global_id(0)] & 255]); }

// CHECK-LABEL: cache hints of restrict_histogram:
// CHECK-NEXT: %a: load cs, touched once
__kernel void restrict_histogram(__global const uint *restrict a, __global int *bins) {
  atomic_inc(&bins[a[get_global_id(0)] & 255]);
}

// `ldu` wants proof that nobody writes: `restrict`, constant memory, ...
// CHECK-LABEL: cache hints of uniform:
// CHECK-NEXT: %b: store wb
// CHECK-NEXT: %a: load ca, same address in all lanes, but the kernel may write it
// CHECK-NEXT: %r: load ca, same address in all lanes, read-only
// CHECK-NEXT: %c: load ca, same address in all lanes, read-only
// CHECK-NEXT: @table: load ca, same address in all lanes, read-only
// CHECK-NEXT: @table: load ca, no argument's memory
// CHECK-NEXT: %b: store wb
__constant float table[5] = {1, 2, 3, 5, 8};
__kernel void uniform(__global const float *a, __global const float *restrict r, __constant float *c, __global float *b, uint n) {
  int i = get_global_id(0);
  b[i + 1] = n;
  b[i] = a[n] + r[n] + c[n] + table[n] + table[i & 3];
}

// ... or that all writes go elsewhere.
// CHECK-LABEL: cache hints of written_apart:
// CHECK: %a: load ca, same address in all lanes, read-only
__kernel void written_apart(__global const float *a, __global float *restrict b, uint n) {
  b[get_global_id(0) + 1] = n;
  b[get_global_id(0)] = a[n];
}

// ... or that the work-item has written nothing yet: what others write it cannot read without a race. In a loop it may have.
// CHECK-LABEL: cache hints of written_later:
// CHECK: %a: load ca, same address in all lanes, read-only
__kernel void written_later(__global const float *a, __global float *b, uint n) {
  float s = 0;
#pragma unroll 1
  for (uint k = 0; k < n; k++)
    s += a[k];
  b[get_global_id(0)] = s;
}
// CHECK-LABEL: cache hints of written_between:
// CHECK: %a: load ca, same address in all lanes, but the kernel may write it
__kernel void written_between(__global const float *a, __global float *b, uint n) {
#pragma unroll 1
  for (uint k = 0; k < n; k++)
    b[get_global_id(0) + k * 1024] = a[k];
}

// Then nothing may order another work-item's writes before the load.
// CHECK-LABEL: cache hints of written_before:
// CHECK: %a: load ca, same address in all lanes, but the kernel may write it
__kernel void written_before(__global const float *a, __global float *restrict b, uint n) {
  int i = get_global_id(0);
  b[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i + 1024] = a[n];
}

// A pointer that may point to a restrict argument writes it.
// CHECK-LABEL: cache hints of written_by_choice:
// CHECK: %a: load ca, same address in all lanes, but the kernel may write it
__kernel void written_by_choice(__global float *restrict a, __global float *b, uint n) {
  int i = get_global_id(0);
  (n & 1 ? a : b)[i] = n;
  b[i + 9] = a[n + 1];
}
