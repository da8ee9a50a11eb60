// golden: dynamic programming in Python
// Costs of products of `span` + 1 matrices in the cheapest order: a launch a span, a product a thread.
extern "C" __global__ void chain(const int *sizes, unsigned long long *cost, unsigned char *split, int n, int span) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i + span;
  if (j >= n)
    return;
  unsigned long long best = ~0ULL;
  unsigned char where = 0;
  for (int k = i; k < j; k++) {
    unsigned long long c = cost[i * n + k] + cost[(k + 1) * n + j] + (unsigned long long)sizes[i] * sizes[k + 1] * sizes[j + 1];
    if (c < best) {
      best = c;
      where = k;
    }
  }
  cost[i * n + j] = best;
  split[i * n + j] = where;
}
