// RUN: --kernel k --global 64 --local 32 --arg out=zeros:uint8:4096 --arg in=random:int32:64 --arg local=2048
// EXPECT: no report
// Structures with padding go from private through local to global memory, whole and in part.
typedef struct { char tag; double value; float3 point; short rest[3]; } Item;
__kernel void k(__global Item *out, __global const int *in, __local Item *shared) {
  int i = get_global_id(0), l = get_local_id(0);
  Item list[3];
  for (int n = 0; n < 3; n++) {
    list[n].tag = n;
    list[n].value = in[i];
    list[n].point = (float3)(n, i, 2);
    for (int m = 0; m < 3; m++)
      list[n].rest[m] = m;
  }
  Item chosen = list[(uint)in[i] % 3];
  if (chosen.tag)
    chosen.rest[1] = 7;
  if (l < 16)
    shared[l] = chosen;
  barrier(CLK_LOCAL_MEM_FENCE);
  Item other = shared[l & 15];
  if (other.tag == 1)
    other.value = 3;
  out[i] = i < 32 ? other : chosen;
}
