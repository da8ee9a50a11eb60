// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 7: data race in local memory; line 9
__kernel void k(__global int *a) {
  __local int l[64];
  int i = get_local_id(0), sum = 0;
  for (int n = 0; n < 4; n++) {
    l[i] = a[get_global_id(0)] + n;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += l[(i + 33) % 64];
  }
  a[get_global_id(0)] = sum;
}
