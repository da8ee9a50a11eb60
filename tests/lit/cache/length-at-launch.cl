// K7: rows of a length that is an argument limit the work-groups of an SM, by the length that the launch gives; rows of a length that
// the kernel divides for do not, as nobody knows at launch whether they are of one element or of thousands.
// RUN: %heddle build %s --stop-after select -o - | FileCheck %s

// CHECK: kernel @argument
// CHECK: {{^  }}working-set
__kernel void argument(__global const float *restrict a, __global float *restrict y, uint n) {
  uint i = get_global_id(0);
  float s = 0;
  for (uint k = 0; k < n; k++)
    s += a[i * n + k];
  y[i] = s;
}

// CHECK: kernel @divided
// CHECK-NOT: {{^  }}working-set
__kernel void divided(__global const float *restrict a, __global float *restrict y, uint n) {
  uint each = (n - 1) / get_global_size(0) + 1, first = get_global_id(0) * each;
  float s = 0;
  for (uint k = first; k < first + each; k++)
    s += a[k];
  y[get_global_id(0)] = s;
}
