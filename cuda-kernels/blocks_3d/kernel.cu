// golden: numpy integers
// Ids in three dimensions, and a heat equation in integers whose planes are blocks.
extern "C" __global__ void ids(int *out) {
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  dim3 size = blockDim;
  int at = block * (size.x * size.y * size.z) + thread;
  out[at] = ((threadIdx.z * 10 + threadIdx.y) * 10 + threadIdx.x) * 1000 + (blockIdx.z * 10 + blockIdx.y) * 10 + blockIdx.x;
}
extern "C" __global__ void heat(const int *in, int *out, uint3 size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x >= size.x || y >= size.y)
    return;
  auto at = [&](int i, int j, int k) {
    i = min(max(i, 0), (int)size.x - 1);
    j = min(max(j, 0), (int)size.y - 1);
    k = min(max(k, 0), (int)size.z - 1);
    return in[(k * (int)size.y + j) * (int)size.x + i];
  };
  int here = at(x, y, z);
  int around = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1);
  out[(z * size.y + y) * size.x + x] = here + ((around - 6 * here) >> 3);
}
