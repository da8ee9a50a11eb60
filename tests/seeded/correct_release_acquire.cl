// RUN: --kernel k --global 128 --local 64 --arg data=zeros:int32:2 --arg flag=zeros:int32:1 --arg out=zeros:int32:128
// EXPECT: no report
// Handed over by release and acquire.
__kernel void k(__global int *data, __global atomic_int *flag, __global int *out) {
  int i = get_global_id(0);
  if (i == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_release);
  }
  if (atomic_load_explicit(flag, memory_order_acquire) == 1)
    out[i] = data[0];
}
