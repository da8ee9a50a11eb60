// golden: numpy minimum and maximum
#define TILE 8
#define R 2
#define threadIdx(d) ((int)get_local_id(d))
#define blockIdx(d) ((int)get_group_id(d))
// Erosion (or dilation) by a disc of 13 pixels; the tile and its border pass through local memory.
__kernel void morph(__global const uchar *in, __global uchar *out, int w, int h, int dilate) {
  __local uchar s[TILE + 2 * R][TILE + 2 * R];
  int x0 = blockIdx(0) * TILE, y0 = blockIdx(1) * TILE;
  for (int k = threadIdx(1) * TILE + threadIdx(0); k < (TILE + 2 * R) * (TILE + 2 * R); k += TILE * TILE) {
    int i = x0 + k % (TILE + 2 * R) - R, j = y0 + k / (TILE + 2 * R) - R;
    s[k / (TILE + 2 * R)][k % (TILE + 2 * R)] = i >= 0 && j >= 0 && i < w && j < h ? in[j * w + i] : dilate ? 0 : 255;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = x0 + threadIdx(0), y = y0 + threadIdx(1);
  if (x >= w || y >= h)
    return;
  uchar v = s[threadIdx(1) + R][threadIdx(0) + R];
  for (int j = -R; j <= R; j++)
    for (int i = -R; i <= R; i++)
      if (abs(i) + abs(j) <= R) {
        uchar other = s[threadIdx(1) + R + j][threadIdx(0) + R + i];
        v = dilate ? max(v, other) : min(v, other);
      }
  out[y * w + x] = v;
}
