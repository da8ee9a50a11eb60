// golden: Bellman-Ford in Python
struct edge {
  int from, to;
  unsigned weight;
};
extern "C" __global__ void relax(const edge *edges, const unsigned long long *dist, unsigned *next, int count) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count)
    return;
  edge e = edges[k];
  unsigned long long through = dist[e.from] + e.weight;
  if (through < dist[e.to])
    atomicMin(&next[e.to], (unsigned)through);
}
extern "C" __global__ void settle(unsigned long long *dist, const unsigned *next, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && next[v] != 0xffffffffu)
    dist[v] = next[v];
}
