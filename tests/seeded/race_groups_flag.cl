// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg flag=zeros:int32:1
// EXPECT: line 7: data race in global memory; line 6
__kernel void k(__global int *a, __global int *flag) {
  int i = get_global_id(0);
  if (i == 5)
    flag[0] = 1;
  if (get_group_id(0) == 1 && flag[0])
    a[i] = 0;
}
