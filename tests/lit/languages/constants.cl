// Functions of constants beyond their range, which LLVM evaluates, are what they are of numbers that come at run time.
// RUN: %heddle run %s --kernel k --global 1 --arg a=%S/Inputs/beyond.npy --arg b=zeros:float64:8 --arg o=zeros:int32:200,expect=%S/Inputs/same.npy --mode functional
// RUN: %heddle run %s -O0 --kernel k --global 1 --arg a=%S/Inputs/beyond.npy --arg b=zeros:float64:8 --arg o=zeros:int32:200,expect=%S/Inputs/same.npy --mode functional
// RUN: %heddle run %s -Os --kernel k --global 1 --arg a=%S/Inputs/beyond.npy --arg b=zeros:float64:8 --arg o=zeros:int32:200,expect=%S/Inputs/same.npy --mode functional
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// Bits, or that both are NaN.
#define SAME(X, Y) ((X) == (Y) || ((X) != (X) && (Y) != (Y)))
// The place of a function and a number is set where the results are the same: a kernel that LLVM takes for undefined sets none.
#define TRY(F) \
  o[n++] = SAME(F(INFINITY), F(a[0])); \
  o[n++] = SAME(F(-INFINITY), F(a[1])); \
  o[n++] = SAME(F(NAN), F(a[2])); \
  o[n++] = SAME(F(1e30f), F(a[3])); \
  o[n++] = SAME(F((double)INFINITY), F((double)a[0])); \
  o[n++] = SAME(F((double)NAN), F((double)a[2])); \
  o[n++] = SAME(F(1e200), F(b[0] + 1e200));
#define POW(Y) pow(x, Y)
#define POWR(Y) powr(x, Y)
#define ROOTN(X) rootn(X, 0)
kernel void k(global const float *a, global const double *b, global int *o) {
  int n = 0;
  TRY(exp) TRY(exp2) TRY(exp10) TRY(expm1) TRY(sinh) TRY(cosh) TRY(tanh) TRY(erf) TRY(erfc) TRY(sin) TRY(cos) TRY(tan) TRY(log) TRY(tgamma) TRY(ROOTN)
  {
    float x = a[4];
    o[n++] = SAME(POW(INFINITY), POW(a[0]));
    o[n++] = SAME(POW(NAN), POW(a[2]));
    o[n++] = SAME(POWR(NAN), POWR(a[2]));
  }
  {
    double x = a[4];
    o[n++] = SAME(POW((double)INFINITY), POW((double)a[0]));
    o[n++] = SAME(POW(-(double)INFINITY), POW((double)a[1]));
    o[n++] = SAME(POW((double)NAN), POW((double)a[2]));
    o[n++] = SAME(POWR((double)NAN), POWR((double)a[2]));
  }
  o[199] = n;
}
