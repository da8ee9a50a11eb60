// K7: what is needed again keeps the usual policy, and the reason is told.
// RUN: %heddle build %s --set memory.unaligned-vectors=false --emit ir -o %t.ll && %heddle opt --passes='heddle-prepare<unaligned-vectors=0>,print<cache-hints>' --disable-output %t.ll | FileCheck %s

// CHECK-LABEL: cache hints of stencil:
// CHECK-COUNT-3: %a: load ca, reused by neighbouring work-items
// CHECK-NEXT: %b: store wb, written for others to read
__kernel void stencil(__global const float *a, __global float *b) {
  int i = get_global_id(0);
  b[i] = a[i - 1] + a[i] + a[i + 1];
}

// Neighbours in y.
// CHECK-LABEL: cache hints of vertical:
// CHECK-COUNT-2: %a: load ca, reused by neighbouring work-items
// CHECK-NEXT: %b: store wb, written for others to read
__kernel void vertical(__global const float *a, __global float *b, int pitch) {
  int x = get_global_id(0), y = get_global_id(1);
  b[y * pitch + x] = a[(y - 1) * pitch + x] + a[(y + 1) * pitch + x];
}

// A window that a loop moves over the neighbours: a warp keeps a line or two.
// CHECK-LABEL: cache hints of window:
// CHECK: %a: load ca, reused by neighbouring work-items
// CHECK-NEXT: %f: load ca, same address in all lanes, read-only, and the data L1 has room
__kernel void window(__global const float *restrict a, __global const float *restrict f, __global float *b, int n) {
  int i = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[i + k] * f[k];
  b[i] = s;
}

// Rows of one factor come and go, and other work-items come back to them: they leave no room for the other's.
// CHECK-LABEL: cache hints of product:
// CHECK: %a: load ldu, same address in all lanes, read-only
// CHECK-NEXT: %b: load ca, reused by neighbouring work-items
__kernel void product(__global const float *restrict a, __global const float *restrict b, __global float *c, int n) {
  int x = get_global_id(0), y = get_group_id(1);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}

// Of four words of a line the first misses every time; the longer way past the uniform L1 does not pay.
// CHECK-LABEL: cache hints of quads:
// CHECK-COUNT-4: %a: load ca, same address in all lanes, new lines in every iteration
__kernel void quads(__global const float *restrict a, __global const float *restrict b, __global float *c, int n) {
  int x = get_global_id(0), y = get_group_id(1);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    float f = b[k * n + x];
    s += a[k * n] * f + a[k * n + 1] * f + a[k * n + 2] + a[k * n + 3] * f;
  }
  c[y * n + x] = s;
}

// Each lane walks a row of its own: the line serves the next iterations.
// CHECK-LABEL: cache hints of matrix_vector:
// CHECK-NEXT: %y: store wb, written for others to read
// CHECK-NEXT: %a: load ca, reused by the next iterations
// CHECK-NEXT: %x: load ldu, same address in all lanes, read-only
__kernel void matrix_vector(__global const float *restrict a, __global const float *restrict x, __global float *y, int n) {
  int i = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[i * n + k] * x[k];
  y[i] = s;
}

// CHECK-LABEL: cache hints of gather:
// CHECK-NEXT: %index: load cs, touched once
// CHECK-NEXT: %a: load ca, address is not affine
// CHECK-NEXT: %b: store cs, written once, beside what is looked up
__kernel void gather(__global const int *index, __global const float *a, __global float *b) {
  int i = get_global_id(0);
  b[i] = a[index[i]];
}

// The second id appears nowhere in the address: every row reads the same.
// CHECK-LABEL: cache hints of broadcast:
// CHECK-NEXT: %a: load ca, reused by neighbouring work-items
// CHECK-NEXT: %b: store wb, written for others to read
__kernel void broadcast(__global const float *a, __global float *b, int pitch) {
  int x = get_global_id(0), y = get_global_id(1);
  b[y * pitch + x] = a[x];
}

// One stride for both ids.
// CHECK-LABEL: cache hints of diagonal:
// CHECK-NEXT: %a: load ca, reused by neighbouring work-items
__kernel void diagonal(__global const float *a, __global float *b, int pitch) {
  int x = get_global_id(0), y = get_global_id(1);
  b[y * pitch + x] = a[x + y];
}

// Every work-group reads the same.
// CHECK-LABEL: cache hints of local_index:
// CHECK-NEXT: %a: load ca, reused by other work-groups
__kernel void local_index(__global const float *a, __global float *b) { b[get_global_id(0)] = a[get_local_id(0)]; }

// A tile of a matrix product: the other work-groups of the row read it, too; with the required size as without.
// CHECK-LABEL: cache hints of tile:
// CHECK-NEXT: %b: store wb, written for others to read
// CHECK-NEXT: %a: load ca, reused by other work-groups
__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void tile(__global const float *a, __global float *b, int n) {
  int x = get_local_id(0), y = get_global_id(1);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k += 64)
    s += a[y * n + k + x];
  b[y * n + get_global_id(0)] = s;
}

// Two passes over a row.
// CHECK-LABEL: cache hints of passes:
// CHECK-NEXT: %a: load ca, accessed again
// CHECK: %a: load ca, accessed again
__kernel void passes(__global const float *a, __global float *b, int pitch, int n) {
  int i = get_global_id(0);
  float m = 0, s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    m = fmax(m, a[k * pitch + i]);
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += a[k * pitch + i] - m;
  b[i] = s;
}

// The address stands still in the outer loop.
// CHECK-LABEL: cache hints of repeated:
// CHECK: %a: load ca, reused in the loop
__kernel void repeated(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int j = 0; j < n; j++)
#pragma unroll 1
    for (int k = 0; k < n; k++)
      s = s * 0.5f + a[k * n + i];
  b[i] = s;
}

// Fields of one structure share lines.
// CHECK-LABEL: cache hints of fields:
// CHECK-COUNT-3: %p: load ca, neighbouring fields
// CHECK-NEXT: %b: store wb, written for others to read
struct particle {
  float position, velocity, mass;
};
__kernel void fields(__global const struct particle *p, __global float *b) {
  int i = get_global_id(0);
  b[i] = p[i].position + p[i].velocity * p[i].mass;
}

// One field alone leaves the rest of the line for nobody, but covers it only in part.
// CHECK-LABEL: cache hints of partial:
// CHECK-NEXT: %a: load ca, lanes do not touch consecutive elements
// CHECK-NEXT: %b: store wb, lanes do not touch consecutive elements
__kernel void partial(__global const float *a, __global float *b) { b[2 * get_global_id(0)] = a[3 * get_global_id(0)]; }

// A transposition: the columns come by again in the neighbouring rows.
// CHECK-LABEL: cache hints of transposed:
// CHECK-NEXT: %a: load cs, touched once
// CHECK-NEXT: %b: store wb, lanes do not touch consecutive elements
__kernel void transposed(__global const float *a, __global float *b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  b[x * h + y] = a[y * w + x];
}

// A pointer into one of two arguments; what it writes may be read as either.
// CHECK-LABEL: cache hints of either:
// CHECK-NEXT: unknown: load ca, the pointer's surface is not known
// CHECK-NEXT: %c: store wb, may be read through another pointer
__kernel void either(__global const float *a, __global const float *b, __global float *c, int n) {
  size_t i = get_global_id(0);
  c[i] = (n & 1 ? a : b)[i];
}

// A store that the kernel reads elsewhere.
// CHECK-LABEL: cache hints of read_back:
// CHECK-NEXT: %a: store wb, accessed in another order, too
__kernel void read_back(__global float *a, __global float *b) {
  int i = get_global_id(0);
  a[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = a[i ^ 1] + a[i - 1];
}

// Which of two places near each other is read, data say; that is no look-up, which might come back to any line at any time.
// CHECK-LABEL: cache hints of upwind:
// CHECK: %f: load ca, address is not affine
// CHECK: %b: store wb, written for others to read
__kernel void upwind(__global const float *restrict v, __global const float *restrict f, __global float *restrict b) {
  int i = get_global_id(0) + 1;
  int k = v[i] > 0.0f ? i - 1 : i;
  b[i] = v[i] * f[k];
}
