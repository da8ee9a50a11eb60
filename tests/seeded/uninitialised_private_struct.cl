// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 10: uninitialised; private memory
struct pair { int first, second; };
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  struct pair p;
  p.first = a[i];
  if (a[i] & 1)
    p.second = i;
  a[i] = p.first + p.second;
}
