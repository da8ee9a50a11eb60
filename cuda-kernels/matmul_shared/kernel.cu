// golden: numpy float64 matrix product
// A tiled product; both tiles in one piece of shared memory whose size the launch gives.
template <int TILE> __device__ void product(const float *a, const float *b, float *c, int m, int k, int n) {
  extern __shared__ float memory[];
  float *ta = memory, *tb = memory + TILE * TILE;
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  float sum = 0.0f;
  for (int t = 0; t < k; t += TILE) {
    ta[ty * TILE + tx] = y < m && t + tx < k ? a[y * k + t + tx] : 0.0f;
    tb[ty * TILE + tx] = x < n && t + ty < k ? b[(t + ty) * n + x] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; i++)
      sum += ta[ty * TILE + i] * tb[i * TILE + tx];
    __syncthreads();
  }
  if (x < n && y < m)
    c[y * n + x] = sum;
}
extern "C" __global__ void product_8(const float *a, const float *b, float *c, int m, int k, int n) { product<8>(a, b, c, m, k, n); }
extern "C" __global__ void product_16(const float *a, const float *b, float *c, int m, int k, int n) { product<16>(a, b, c, m, k, n); }
