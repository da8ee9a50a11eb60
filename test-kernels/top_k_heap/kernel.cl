// golden: numpy sort
#define K 5
// The least K of a row, a row a work-item: a heap in private memory, its largest on top.
__kernel void least(__global const uint *rows, __global uint *least, int count, int width) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= count)
    return;
  uint heap[K];
  for (int k = 0; k < K; k++)
    heap[k] = UINT_MAX;
  for (int j = 0; j < width; j++) {
    uint v = rows[i * width + j];
    if (v >= heap[0])
      continue;
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= K)
        break;
      if (child + 1 < K && heap[child + 1] > heap[child])
        child++;
      if (heap[child] <= v)
        break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = v;
  }
  // Taken out from the largest on.
  for (int n = K; n > 0; n--) {
    least[i * K + n - 1] = heap[0];
    uint v = heap[n - 1];
    int at = 0;
    for (int child = 1; child < n; child = 2 * at + 1) {
      if (child + 1 < n && heap[child + 1] > heap[child])
        child++;
      if (heap[child] <= v)
        break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = v;
  }
}
