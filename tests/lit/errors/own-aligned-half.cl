// Scalar vloada_half is a macro of Heddle's, of OpenCL C 1.1: a program's own definition is an error, not a function that calls itself.
//
// RUN: not %heddle build %s -o %t.o 2>&1 | FileCheck %s
// RUN: %heddle build -DOTHER_NAME %s -o %t.o
// RUN: %heddle build -DCALL -cl-std=CL1.1 %s -o %t.o
// CHECK: own-aligned-half.cl:[[@LINE+7]]:{{.*}}error:
#ifdef OTHER_NAME
#define NAME own_load
#elif !defined(CALL)
#define NAME vloada_half
#endif
#ifdef NAME
float NAME(size_t i, const global half *p) { return vload_half(i, p); }
#else
#define NAME vloada_half
#endif
kernel void k(global const half *a, global float *o) { o[0] = NAME(0, a); }
