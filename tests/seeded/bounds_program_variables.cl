// RUN: --kernel k --global 64 --local 64 --arg a=random:int32:64
// EXPECT: line 11: load of 4 bytes out of bounds in global memory; at offset 48 of variable `first`, which has 48 bytes
// Bytes behind a variable belong to no other one, whichever way the linker lays them out.
__global int first[12];
__global int second[100];
__kernel void start(int n) {
  first[get_global_id(0)] = second[get_global_id(0)] = n;
}
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  a[i] = first[i] + second[i];
}
