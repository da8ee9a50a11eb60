// golden: peeling in Python
// Vertices of fewer than k living neighbours leave, and take a degree from each neighbour.
extern "C" __global__ void peel(const int *rows, const int *columns, int *degree, int *core, int *left, int n, int k, int round) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || core[v] >= 0)
    return;
  int d = atomicAdd(&degree[v], 0);
  if (d >= k)
    return;
  core[v] = k - 1;
  atomicAdd(&left[round], 1);
  for (int e = rows[v]; e < rows[v + 1]; e++)
    atomicSub(&degree[columns[e]], 1);
}
