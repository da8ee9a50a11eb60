// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128 --arg out=zeros:int32:1
// EXPECT: line 5: data race in global memory; work-group (1, 0, 0), work-item local (0, 0, 0); work-group (0, 0, 0)
__kernel void k(__global int *a, __global int *out) {
  if (get_local_id(0) == 0)
    out[0] = a[get_global_id(0)] + get_group_id(0) * 1000;
}
