// golden: Bellman-Ford in Python
extern "C" __global__ void relax(const int *rows, const int *columns, const unsigned *weight, volatile unsigned *dist, volatile unsigned *changed, int n, int round) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || (round > 0 && changed[round - 1] == 0))
    return;
  unsigned d = dist[v];
  if (d == 0xffffffffu)
    return;
  bool any = false;
  for (int k = rows[v]; k < rows[v + 1]; k++)
    any |= atomicMin((unsigned *)&dist[columns[k]], d + weight[k]) > d + weight[k];
  if (any)
    atomicOr((unsigned *)&changed[round], 1u);
}
