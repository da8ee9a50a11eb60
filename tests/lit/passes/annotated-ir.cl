// The IR with the results of the analyses as metadata, as selection would see it.
// RUN: %heddle build %s --emit annotated-ir -o - | FileCheck %s
// RUN: %heddle build %s --emit annotated-ir -o - | %heddle opt --passes=verify --disable-output -
// CHECK: call i64 @_Z13get_global_idj(i32 {{.*}}0){{.*}}!heddle.uniformity ![[V:[0-9]+]]
// CHECK: ![[V]] = !{!"varying"}
__kernel void k(__global float *a, float f) { a[get_global_id(0)] += f; }
