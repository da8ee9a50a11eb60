// golden: numpy integers
// A filter in constant memory, a tile with its border in shared memory, a table of the program.
#define R 2
#define TILE 16
__constant__ int weights[(2 * R + 1) * (2 * R + 1)] = {1, 2, 3, 2, 1, 2, 4, 6, 4, 2, 3, 6, 9, 6, 3, 2, 4, 6, 4, 2, 1, 2, 3, 2, 1};
__device__ unsigned char levels[4] = {10, 60, 150, 240};
extern "C" __global__ void blur(const unsigned char *__restrict__ in, unsigned char *__restrict__ out, unsigned char *__restrict__ four, int w, int h) {
  __shared__ unsigned char s[TILE + 2 * R][TILE + 2 * R];
  int x0 = blockIdx.x * TILE - R, y0 = blockIdx.y * TILE - R;
  for (int y = threadIdx.y; y < TILE + 2 * R; y += blockDim.y)
    for (int x = threadIdx.x; x < TILE + 2 * R; x += blockDim.x)
      s[y][x] = __ldg(&in[min(max(y0 + y, 0), h - 1) * w + min(max(x0 + x, 0), w - 1)]);
  __syncthreads();
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * R; j++)
#pragma unroll
    for (int i = 0; i <= 2 * R; i++)
      sum += weights[j * (2 * R + 1) + i] * s[threadIdx.y + j][threadIdx.x + i];
  out[y * w + x] = sum / 81;
  four[y * w + x] = levels[sum / 81 >> 6];
}
