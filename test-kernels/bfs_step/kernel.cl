// Golden: breadth-first search in Python.
__kernel void step(__global const int *rows, __global const int *columns, __global volatile int *level, int depth, int n) {
  int v = get_global_id(0);
  if (v >= n || level[v] != depth)
    return;
  for (int k = rows[v]; k < rows[v + 1]; k++)
    atomic_cmpxchg(&level[columns[k]], -1, depth + 1);
}
