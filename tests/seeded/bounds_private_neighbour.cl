// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int32:64 --arg i32=8
// EXPECT: line 9: store; private memory; beyond a variable
// One element too far is the first of the next variable, or would be.
__kernel void k(__global int *out, int n) {
  int i = get_global_id(0);
  int p[8], q[8];
  for (int m = 0; m < 8; m++)
    p[m] = q[m] = m;
  p[n] = 5;
  out[i] = p[i & 7] + q[i & 7];
}
