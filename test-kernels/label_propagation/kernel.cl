// golden: union and find in Python
// Each vertex takes the least label around it, and then its label's label.
__kernel void pull(__global const int *rows, __global const int *columns, __global const int *label, __global int *next, int n) {
  int v = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (v >= n)
    return;
  int least = label[v];
  for (int k = rows[v]; k < rows[v + 1]; k++)
    least = min(least, label[columns[k]]);
  next[v] = min(least, label[least]);
}
