// RUN: --kernel k --global 32,32 --local 16,16 --arg a=random:float32:1024
// EXPECT: line 5: data race in global memory; line 7; work-group (
__kernel void k(__global float *a) {
  int x = get_global_id(0), y = get_global_id(1);
  float v = a[y * 32 + x];
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[x * 32 + y] = v;
}
