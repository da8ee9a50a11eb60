// Golden: numpy integers.
// Work-items of a sub-group with one key add up first, so that each key costs one atomic a sub-group: one key after the other.
__kernel void aggregate(__global const int *key, __global const int *value, __global int *count, __global int *sum, __global int *highest, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  int k = key[i], v = value[i];
  bool waits = true;
  for (;;) {
    uint4 waiting = sub_group_ballot(waits);
    if (sub_group_ballot_bit_count(waiting) == 0)
      break;
    if (waits && k == sub_group_non_uniform_broadcast(k, sub_group_ballot_find_lsb(waiting))) {
      uint4 lanes = sub_group_ballot(1);
      int total = sub_group_non_uniform_reduce_add(v);
      if (sub_group_elect()) {
        atomic_add(&count[k], (int)sub_group_ballot_bit_count(lanes));
        atomic_add(&sum[k], total);
      }
      waits = false;
    }
  }
  highest[i] = sub_group_clustered_reduce_max(v, 4);
}
