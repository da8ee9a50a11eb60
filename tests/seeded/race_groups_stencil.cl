// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 7: data race in global memory; work-group (1, 0, 0); work-group (0, 0, 0)
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  int right = i % 64 == 63 && i + 1 < 128 ? a[i + 1] : 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[i] = a[i] + right;
}
