// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 4: atomic of 4 bytes out of bounds in global memory
__kernel void k(__global int *a) {
  atomic_add(a + get_global_id(0) * 2, 1);
}
