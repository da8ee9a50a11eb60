// RUN: --kernel k --global 256 --local 64 --arg sums=zeros:int32:5
// EXPECT: line 7: data race in global memory; line 8; work-group (1, 0, 0)
__kernel void k(__global int *sums) {
  if (get_local_id(0) != 0)
    return;
  int g = get_group_id(0);
  int before = sums[g];
  sums[g + 1] = before + 64;
}
