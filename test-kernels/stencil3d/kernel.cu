// golden: numpy float64 with error bounds
extern "C" __global__ void stencil(const float *a, float *b, int nx, int ny, int nz) {
  __shared__ float s[4][12];
  int lx = threadIdx.x, ly = threadIdx.y;
  int x = blockIdx.x * 10 + lx, y = blockIdx.y * 2 + ly, plane = nx * ny;
  int cx = min(x, nx - 1), cy = min(y, ny - 1), at = cy * nx + cx;
  bool inner = lx > 0 && lx < 11 && ly > 0 && ly < 3 && x < nx - 1 && y < ny - 1;
  float below = a[at], here = a[at + plane];
  for (int z = 1; z < nz - 1; z++) {
    float above = a[at + (z + 1) * plane];
    s[ly][lx] = here;
    __syncthreads();
    if (inner)
      b[at + z * plane] = (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] + below + above) * 0.125f - here * 0.7f;
    __syncthreads();
    below = here;
    here = above;
  }
}
