// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int32:64 --arg in=random:int32:64
// EXPECT: line 13: uninitialised; private memory; used at
// The value goes through arithmetic and another variable before anything depends on it.
__kernel void k(__global int *out, __global const int *in) {
  int i = get_global_id(0);
  int a[4], b[4];
  for (int n = 0; n < 3; n++)
    a[n] = in[i] + n;
  for (int n = 0; n < 4; n++)
    b[n] = 0;
  int chosen = in[i] & 3;
  for (int n = 0; n < 4; n++)
    b[n ^ chosen] = a[n] * 3 + n;
  int sum = 0;
  for (int n = 0; n < 4; n++)
    sum += b[n ^ (i & 3)];
  if (sum > 10)
    out[i] = sum;
}
