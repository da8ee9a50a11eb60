// golden: Bellman-Ford in Python
typedef struct {
  int from, to;
  uint weight;
} edge;
__kernel void relax(__global const edge *edges, __global const ulong *dist, volatile __global uint *next, int count) {
  int k = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (k >= count)
    return;
  edge e = edges[k];
  ulong through = dist[e.from] + e.weight;
  if (through < dist[e.to])
    atomic_min(&next[e.to], (uint)through);
}
__kernel void settle(__global ulong *dist, __global const uint *next, int n) {
  int v = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (v < n && next[v] != UINT_MAX)
    dist[v] = next[v];
}
