// K7: what a loop comes back to decides how many work-groups an SM holds: with more, each would evict the others' lines.
// RUN: %heddle build %s --emit ir -o %t.ll && %heddle opt --passes='heddle-prepare,print<cache-hints>' --disable-output %t.ll | FileCheck %s --check-prefix=HINT
// RUN: %heddle build %s --stop-after select -o - | FileCheck %s --check-prefix=MIR
// RUN: %heddle build %s --stop-after select --no-cache-hints -o - | FileCheck %s --check-prefix=OFF
// OFF-NOT: working-set

// Every lane walks a row of its own: a line a lane. Both loads of an unrolled
// iteration are of one line, which counts once.
// HINT-LABEL: cache hints of rows:
// HINT-COUNT-1: %a: load ca, {{.*}}, kept in the loop, work-items 4096 0 0 bytes apart
// HINT-LABEL: cache hints of update:
// MIR-LABEL: kernel @rows
// MIR: working-set data "4*c[0x20]" "0" "0"
// MIR-NOT: {{^  }}working-set
__kernel void rows(__global const float *restrict a, __global const float *restrict x, __global float *restrict y, int n) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < n; k++)
    s += a[i * n + k] * x[k];
  y[i] = s;
}

// Rows of a line, which the loop reads and writes.
// MIR-LABEL: kernel @update
// MIR: working-set data "128" "0" "0"
__kernel void update(__global float *a) {
  int i = get_global_id(0);
#pragma unroll 1
  for (int k = 0; k < 32; k++)
    a[i * 32 + k] *= 3.0f;
}

// Two rows a line: an L1 holds those of many warps.
// MIR-LABEL: kernel @short_rows
// MIR-NOT: {{^  }}working-set
__kernel void short_rows(__global float *a) {
  int i = get_global_id(0);
#pragma unroll 1
  for (int k = 0; k < 16; k++)
    a[i * 16 + k] *= 3.0f;
}

// Neighbours in y read the same row, and in a loop over columns neighbours in x do.
// MIR-LABEL: kernel @shared_rows
// MIR-NOT: {{^  }}working-set
// MIR-LABEL: kernel @columns
// MIR-NOT: {{^  }}working-set
// MIR-LABEL: kernel @slow
__kernel void shared_rows(__global const float *restrict a, __global float *restrict y, int n) {
  int i = get_global_id(0), j = get_global_id(1);
  float s = 0;
  for (int k = 0; k < n; k++)
    s += a[i * n + k];
  y[j * n + i] = s;
}
__kernel void columns(__global const float *restrict a, __global float *restrict y, int n) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < n; k++)
    s += a[k * n + i];
  y[i] = s;
}

// Lines that follow each other closely, and much to compute: not worth fewer warps.
// MIR-NOT: {{^  }}working-set
__kernel void slow(__global const float *restrict a, __global float *restrict y, int n) {
  int i = get_global_id(0);
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    s += sin(a[i + k]) * cos(a[i + k]);
  y[i] = s;
}
