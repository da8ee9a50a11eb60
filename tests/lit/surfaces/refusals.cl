// G5, G8: what is recognised in whatever spelling, and why other accesses keep their arithmetic.
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='print<global-id>' --disable-output %t.ll | FileCheck %s

// Several forms of the same address.
// CHECK-LABEL: global-id addresses of forms:
// CHECK: t0: %a, typed UAV, strides (4, 4*arg1, 0), base 0
// CHECK-NOT: kept
// CHECK: t0(1, 2, 0): {{.*}}load
// CHECK-NOT: kept
// CHECK: t0(0, 0, 0): store
__kernel void forms(__global int *a, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  long yy = get_global_id(1);
  int s = a[(y + 2) * w + x + 1] + a[w * y + (w << 1) + (1 + x)] + *(a + (yy + 2) * (long)w + (long)x + 1);
  a[y * w + x] = s;
}

// Group id times enqueued size plus local id is the global id without its offset; a loop counter is a uniform part.
// CHECK-LABEL: global-id addresses of groups:
// CHECK: t1: %a, typed buffer, strides (4, 0, 0), base -4*goffset.x
// CHECK: t1(0, 0, 0) + 4*arg2*%{{.*}}: {{.*}}load
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void groups(__global const int *a, __global int *b, int pitch, int n) {
  int i = get_group_id(0) * 64 + get_local_id(0), s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[i + k * pitch];
  b[i] = s;
}

// CHECK-LABEL: global-id addresses of signed_index:
// CHECK: t0(-3, 0, 0): {{.*}}load
__kernel void signed_index(__global const int *a, __global int *b) {
  int i = get_global_id(0) - 3;
  b[get_global_id(0)] = a[i];
}

// CHECK-LABEL: global-id addresses of narrow:
// CHECK: kept, 16-bit arithmetic in the index may overflow: {{.*}}load
__kernel void narrow(__global const int *a, __global int *b) {
  short i = (short)get_global_id(0) + 7;
  b[get_global_id(0)] = a[i];
}

// CHECK-LABEL: global-id addresses of pitch:
// CHECK: kept, the pitch `4*gid.x*gid.y` is not known at launch: {{.*}}load
// CHECK: kept, the pitch `{{.*}}gid.x*group.x` is not known at launch: {{.*}}load
__kernel void pitch(__global const int *a, __global int *b) {
  size_t x = get_global_id(0), y = get_global_id(1);
  b[x] = a[x * y] + a[x * get_group_id(0)];
}

// CHECK-LABEL: global-id addresses of unknown:
// CHECK: kept, the pointer's surface is not known: {{.*}}load
__kernel void unknown(__global const int *a, __global const int *b, __global int *c, int n) {
  size_t i = get_global_id(0);
  c[i] = (n & 1 ? a : b)[i];
}

// CHECK-LABEL: global-id addresses of data:
// CHECK: t0(0, 0, 0): {{.*}}load
// CHECK: kept, the index depends on `{{.*}}load{{.*}}`: {{.*}}load
__kernel void data(__global const int *index, __global const int *a, __global int *b) {
  size_t i = get_global_id(0);
  b[i] = a[index[i]];
}

// CHECK-LABEL: global-id addresses of same:
// CHECK: kept, all work-items access the same place: {{.*}}load
__kernel void same(__global const int *a, __global int *b, int n) { b[get_global_id(0)] = a[n]; }
