// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 5: data race in global memory; variable `total`
__global int total;
__kernel void k(__global int *a) {
  total += a[get_global_id(0)];
}
