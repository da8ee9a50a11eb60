// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int32:64 --arg in=random:int32:64
// EXPECT: line 10: uninitialised; private memory
// The value is only ever an index.
__kernel void k(__global int *out, __global const int *in) {
  int i = get_global_id(0);
  int where[4];
  for (int n = 0; n < 4; n++)
    if (n != 2)
      where[(n + in[i]) & 3] = n;
  out[i] = in[where[in[i + 1 & 63] & 3] & 63];
}
