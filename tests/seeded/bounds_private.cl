// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 7: out of bounds in private memory
__kernel void k(__global int *a) {
  int p[4] = {1, 2, 3, 4};
  int i = get_global_id(0);
  p[a[i] & 3] = i;
  a[i] = p[a[i] & 63];
}
