// RUN: --kernel k --global 16,16 --local 16,16 --arg a=random:float32:256 --arg b=zeros:float32:256
// EXPECT: line 7: data race in local memory; line 6
__kernel void k(__global const float *a, __global float *b) {
  __local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1);
  tile[y][x] = a[y * 16 + x];
  b[y * 16 + x] = tile[x][y];
}
