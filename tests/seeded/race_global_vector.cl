// RUN: --kernel k --global 64 --local 64 --arg a=zeros:int32:256
// EXPECT: line 7: data race in global memory; line 5
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  vstore4((int4)(i, i + 1, i + 2, i + 3), i, a);
  if (i == 0)
    a[7] = 50;
}
