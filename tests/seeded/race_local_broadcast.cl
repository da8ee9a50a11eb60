// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 6: data race in local memory; line 7
__kernel void k(__global int *a) {
  __local int first;
  if (get_local_id(0) == 0)
    first = a[get_global_id(0)];
  a[get_global_id(0)] += first;
}
