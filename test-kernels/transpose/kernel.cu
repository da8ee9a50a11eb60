// golden: numpy transpose
// A tile in shared memory, padded by one column against bank conflicts. Edges are guarded.
constexpr int TILE = 16;
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int lx = threadIdx.x, ly = threadIdx.y;
  int bx = blockIdx.x * TILE, by = blockIdx.y * TILE;
  for (int r = ly; r < TILE; r += blockDim.y)
    if (bx + lx < width && by + r < height)
      tile[r][lx] = in[(by + r) * width + bx + lx];
  __syncthreads();
  for (int r = ly; r < TILE; r += blockDim.y)
    if (by + lx < height && bx + r < width)
      out[(bx + r) * height + by + lx] = tile[lx][r];
}
