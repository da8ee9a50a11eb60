// RUN: --kernel k --global 64 --local 64 --arg a=random:uint8:64
// EXPECT: line 8: data race in local memory; line 6
__kernel void k(__global uchar *a) {
  __local uchar l[65];
  int i = get_local_id(0);
  l[i + 1] = a[i];
  if (i == 7)
    l[i] = 9;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = l[i + 1];
}
