// golden: union and find in Python
__kernel void start(__global int *label) {
  label[get_global_id(0)] = get_global_id(0);
}
__kernel void hook(__global const int2 *edges, volatile __global int *label, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  int2 e = edges[i];
  int a = label[e.x], b = label[e.y];
  while (a != b) {
    int high = max(a, b), low = min(a, b);
    int old = atomic_min(&label[high], low);
    if (old == high || old == low)
      break;
    a = old;
    b = low;
  }
}
__kernel void jump(volatile __global int *label) {
  int v = get_global_id(0), l = label[v];
  while (l != label[l])
    l = label[l];
  label[v] = l;
}
