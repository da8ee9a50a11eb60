// Reciprocals and reciprocal roots in single precision are the special-function unit's, which is as accurate as OpenCL C asks for;
// quotients only where an option or the function says so.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefixes=CHECK,USUAL
// RUN: %heddle build %s -cl-fast-relaxed-math --emit asm -o - | FileCheck %s --check-prefixes=CHECK,FAST
// RUN: %heddle build %s -cl-fp32-correctly-rounded-divide-sqrt --emit asm -o - | FileCheck %s --check-prefixes=STRICT

// CHECK-LABEL: "name":"reciprocal"
// CHECK: rcp.f32
// CHECK-NEXT: st.global
// STRICT-LABEL: "name":"reciprocal"
// STRICT: div.f32
kernel void reciprocal(global float *x) { x[get_global_id(0)] = 1 / x[get_global_id(0)]; }

// CHECK-LABEL: "name":"root"
// CHECK: rsq.f32
// CHECK-NEXT: st.global
// STRICT-LABEL: "name":"root"
// STRICT: sqrt.f32
// STRICT-NEXT: div.f32
kernel void root(global float *x) { x[get_global_id(0)] = 1 / sqrt(x[get_global_id(0)]); }

// The function has a bound of its own.
// STRICT-LABEL: "name":"function"
// STRICT: rsq.f32
kernel void function(global float *x) { x[get_global_id(0)] = rsqrt(x[get_global_id(0)]); }

// CHECK-LABEL: "name":"quotient"
// USUAL: div.f32
// FAST: rcp.f32
// FAST-NEXT: mul.f32
// STRICT-LABEL: "name":"quotient"
// STRICT: div.f32
kernel void quotient(global float *x, global float *y) { x[get_global_id(0)] /= y[get_global_id(0)]; }

// CHECK-LABEL: "name":"native"
// CHECK: rcp.f32
// CHECK-NEXT: mul.f32
kernel void native(global float *x, global float *y) { x[get_global_id(0)] = native_divide(x[get_global_id(0)], y[get_global_id(0)]); }

// CHECK-LABEL: "name":"twice"
// CHECK: div.f64
// CHECK-NOT: rcp
// CHECK: exit
kernel void twice(global double *x) { x[get_global_id(0)] = 1 / x[get_global_id(0)]; }
