// RUN: --kernel k --global 64 --local 64 --arg a=random:int32:65
// EXPECT: line 6: data race in global memory; store; load; line 5
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  int next = a[i + 1];
  a[i] = next;
}
