// golden: dynamic programming in Python
// An item a launch; the choice is kept as a bit a capacity.
__kernel void item(__global const int *from, __global int *to, __global uchar *taken, int number, int weight, int value, int capacity) {
  int c = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (c > capacity)
    return;
  int without = from[c], with = c >= weight ? from[c - weight] + value : -1;
  to[c] = max(without, with);
  taken[number * (capacity + 1) + c] = with > without;
}
// Back from the last item: one work-item follows the choices.
__kernel void trace(__global const uchar *taken, __global const int *weights, __global int *chosen, int items, int capacity) {
  if (get_global_id(0) != 0)
    return;
  int c = capacity;
  for (int k = items - 1; k >= 0; k--) {
    chosen[k] = taken[k * (capacity + 1) + c];
    if (chosen[k])
      c -= weights[k];
  }
}
