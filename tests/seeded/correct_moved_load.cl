// RUN: --kernel k --global 64 --local 32 --arg out=zeros:uint32:64 --arg in=random:uint32:64
// EXPECT: no report
// The loop may write nothing; the optimiser then loads the array before the loop and stores it after.
__kernel void k(__global uint *out, __global const uint *in) {
  uint i = get_global_id(0);
  uint a[8];
  for (uint n = 0; n < 3; n++)
    if (in[i] >> n & 1)
      vstore8((uint8)(n), 0, a);
  vstore8(vload8(i / 8, in), 0, a);
  uint sum = 0;
  for (uint n = 0; n < 8; n++)
    sum = sum * 31 + a[(n + i) & 7];
  out[i] = sum;
}
