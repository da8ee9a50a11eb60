// golden: Python integers
constexpr int B = 9;
extern "C" __global__ void diagonal(int *m, const unsigned char *s, const unsigned char *t, const int *score, int pitch, int d, int first, int gap) {
  __shared__ int tile[B + 1][B + 1];
  int k = threadIdx.x, by = first + blockIdx.x, bx = d - by;
  int x0 = bx * B, y0 = by * B;
  tile[0][k + 1] = m[y0 * pitch + x0 + k + 1];
  tile[k + 1][0] = m[(y0 + k + 1) * pitch + x0];
  if (k == 0)
    tile[0][0] = m[y0 * pitch + x0];
  int mine = s[y0 + k];
  for (int step = 0; step < 2 * B - 1; step++) {
    __syncthreads();
    int x = step - k;
    if (x >= 0 && x < B) {
      int with = tile[k][x] + score[mine * 4 + t[x0 + x]];
      tile[k + 1][x + 1] = max(with, max(tile[k][x + 1], tile[k + 1][x]) - gap);
    }
  }
  __syncthreads();
  for (int y = 0; y < B; y++)
    m[(y0 + y + 1) * pitch + x0 + k + 1] = tile[y + 1][k + 1];
}
