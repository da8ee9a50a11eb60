// golden: numpy integers
__kernel void spmv(__global const int *row, __global const int *column, __global const int *value, __global const int *x, volatile __global int *y, int count) {
  int k = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (k < count)
    atomic_add(&y[row[k]], value[k] * x[column[k]]);
}
// A piece a work-item, the sum of a row kept until the row ends: rows are in order.
__kernel void pieces(__global const int *row, __global const int *column, __global const int *value, __global const int *x, volatile __global int *z, int count, int piece) {
  int k = piece * (get_group_id(0) * get_local_size(0) + get_local_id(0)), last = min(k + piece, count);
  if (k >= last)
    return;
  int now = row[k], sum = 0;
  for (; k < last; k++) {
    if (row[k] != now) {
      atomic_add(&z[now], sum);
      now = row[k];
      sum = 0;
    }
    sum += value[k] * x[column[k]];
  }
  atomic_add(&z[now], sum);
}
