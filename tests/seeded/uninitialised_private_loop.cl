// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 7: uninitialised; private memory
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  int sum;
  for (int n = 0; n < 4; n++)
    sum += a[i] >> n;
  a[i] = sum;
}
