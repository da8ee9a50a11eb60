// Every rewritten access and every other is explained with its line.
// RUN: %heddle build %s --remarks - -o %t.o | FileCheck %s
// CHECK: --- !Missed
// CHECK-NEXT: Pass: {{ *}}heddle-global-id
// CHECK-NEXT: Name: {{ *}}ConventionalAddress
// CHECK-NEXT: DebugLoc: {{ *}}{ File: '{{.*}}remarks.cl', Line: [[#@LINE+9]], Column: {{[0-9]+}} }
// CHECK-NEXT: Function: {{ *}}k
// CHECK-NEXT: Args:
// CHECK-NEXT: - String: {{ *}}'the index depends on
// CHECK: --- !Passed
// CHECK: DebugLoc: {{ *}}{ File: '{{.*}}remarks.cl', Line: [[#@LINE+4]],
// CHECK: 'address made of the global ids: (1, 0, 0)'
__kernel void k(__global const int *a, __global int *b) {
  size_t i = get_global_id(0);
  b[i + 1] = a[(i * i) & 15];
}
