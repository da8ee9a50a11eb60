// K7: what each work-item touches once is a stream, however the kernel comes to it.
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='heddle-prepare,print<cache-hints>' --disable-output %t.ll | FileCheck %s

// A load and a store; the line of the source is told.
// CHECK-LABEL: cache hints of copy:
// CHECK-NEXT: %a: load cs, touched once, line [[#@LINE+4]]
// CHECK-NEXT: %b: store wb, written for others to read, line [[#@LINE+3]]
__kernel void copy(__global const float *a, __global float *b) {
  size_t i = get_global_id(0);
  b[i] = a[i];
}

// Read, modified and written by the same work-item: still once.
// CHECK-LABEL: cache hints of saxpy:
// CHECK-NEXT: %x: load cs, touched once
// CHECK-NEXT: %y: load cs, touched once
// CHECK-NEXT: %y: store wb, written for others to read
__kernel void saxpy(__global const float *x, __global float *y, float a) {
  int i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

// Four components at once are one element.
// CHECK-LABEL: cache hints of wide:
// CHECK-NEXT: %a: load cs, touched once
// CHECK-NEXT: %b: store wb, written for others to read
__kernel void wide(__global const float4 *a, __global float4 *b) { b[get_global_id(0)] = a[get_global_id(0)] * 2.0f; }

// Two ids, a pitch known at launch, a constant shift.
// CHECK-LABEL: cache hints of plane:
// CHECK-NEXT: %a: load cs, touched once
// CHECK-NEXT: %b: store wb, written for others to read
__kernel void plane(__global const float *a, __global float *b, int pitch) {
  int x = get_global_id(0), y = get_global_id(1);
  b[y * pitch + x] = a[(y + 2) * pitch + x + 5];
}

// A matrix walked by columns: every iteration comes to a new row, and can be prefetched. The vector is the same for all.
// CHECK-LABEL: cache hints of columns:
// CHECK-NEXT: %y: store wb, written for others to read
// CHECK-NEXT: %a: load cs, touched once, prefetch 16*arg3 bytes ahead
// CHECK-NEXT: %x: load ca, same address in all lanes, read-only
__kernel void columns(__global const float *restrict a, __global const float *restrict x, __global float *y, int n) {
  int i = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[k * n + i] * x[k];
  y[i] = s;
}

// The same with a constant pitch; four rows an iteration are no neighbours of each other.
// CHECK-LABEL: cache hints of unrolled:
// CHECK-NEXT: %y: store wb, written for others to read
// CHECK-COUNT-4: %a: load cs, touched once, prefetch 65536 bytes ahead
__kernel void unrolled(__global const float *a, __global float *y, int n) {
  int i = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k += 4)
    s += a[k * 1024 + i] + a[k * 1024 + 1024 + i] + a[k * 1024 + 2048 + i] + a[k * 1024 + 3072 + i];
  y[i] = s;
}

// CHECK-LABEL: cache hints of grid_stride:
// CHECK-NEXT: %a: load cs, touched once, prefetch 16*gsize.x bytes ahead
// CHECK-NEXT: %b: store wb, written for others to read
__kernel void grid_stride(__global const float *a, __global float *b, int n) {
#pragma unroll 1
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    b[i] = a[i] + 1.0f;
}

// The unrolled loop and the loop for the rest touch different elements.
// CHECK-LABEL: cache hints of rest:
// CHECK-NOT: ca,
// CHECK-NOT: wb,
// CHECK: %a: load cs, touched once, prefetch 32*arg2 bytes ahead
__kernel void rest(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < n; k++)
    s += a[k * n + i];
  b[i] = s;
}

// A row a work-group: the row moves with the group.
// CHECK-LABEL: cache hints of rows:
// CHECK: %a: load cs, touched once, prefetch 16*elsize.x bytes ahead
__kernel void rows(__global const float *a, __global float *b, int pitch, int n) {
  float s = 0;
#pragma unroll 1
  for (int k = get_local_id(0); k < n; k += get_enqueued_local_size(0))
    s += a[get_group_id(0) * pitch + k];
  b[get_global_id(0)] = s;
}

// A pointer that walks, backwards.
// CHECK-LABEL: cache hints of pointer:
// CHECK: %a: load cs, touched once, prefetch -16384 bytes ahead
__kernel void pointer(__global const float *a, __global float *b, int n) {
  __global const float *p = a + get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++, p -= 1024)
    s += *p;
  b[get_global_id(0)] = s;
}

// Tiles of a transposition, walked by whole local sizes: the group moves the tile.
// CHECK-LABEL: cache hints of tiles:
// CHECK: %a: load cs, touched once
// CHECK: %b: store wb, written for others to read
__kernel void tiles(__global const float *a, __global float *b, int width, int height) {
  __local float tile[16][17];
  int x = get_local_id(0), bx = get_group_id(0) * 16, by = get_group_id(1) * 16;
#pragma unroll 1
  for (int y = get_local_id(1); y < 16; y += get_local_size(1))
    tile[y][x] = a[(by + y) * width + bx + x];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
  for (int y = get_local_id(1); y < 16; y += get_local_size(1))
    b[(bx + y) * height + by + x] = tile[x][y];
}
