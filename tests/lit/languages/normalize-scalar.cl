// A scalar that is no number has no direction; the sign, which libclc takes, is 0.
// RUN: %heddle run %s --kernel k --global 1 --arg x=zeros:float32:4 --arg y=zeros:float64:1 | FileCheck %s
// CHECK: 1 1 1; 1 -1 0 0
__kernel void k(__global float *x, __global double *y) {
  float none = x[0] / x[1];
  printf("%d %d %d; ", isnan(normalize(none)), isnan(fast_normalize(none)), isnan(normalize(y[0] / x[1])));
  printf("%g %g %g %g\n", normalize(x[0] + 3), normalize(x[0] - 1 / x[1]), normalize(x[2]), normalize(y[0]));
}
