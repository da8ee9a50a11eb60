// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 8: uninitialised; private memory
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  int x;
  if (a[i] > 50)
    x = 3;
  a[i] = x + 1;
}
