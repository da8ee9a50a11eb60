// RUN: --kernel k --global 64 --local 64 --arg a=random:uint8:66
// EXPECT: line 6: data race in global memory; line 5
__kernel void k(__global uchar *a) {
  int i = get_global_id(0);
  uchar v = a[i + 2];
  a[i + 1] = v + 1;
}
