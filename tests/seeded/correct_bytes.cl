// RUN: --kernel k --global 256 --local 64 --arg a=random:uint8:256
// EXPECT: no report
// Different bytes of one word.
__kernel void k(__global uchar *a) {
  __local uchar l[64];
  int i = get_local_id(0);
  l[i] = a[get_global_id(0)] + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[i ^ 1] + l[i];
}
