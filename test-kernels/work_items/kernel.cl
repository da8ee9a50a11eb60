// Golden: Python integers.
__kernel void ids(__global int *out) {
  size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1), z = get_global_id(2) - get_global_offset(2);
  __global int *o = out + ((z * get_global_size(1) + y) * get_global_size(0) + x) * 8;
  o[0] = get_global_id(0);
  o[1] = get_global_id(1);
  o[2] = get_global_id(2);
  o[3] = get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2);
  o[4] = get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2);
  o[5] = get_global_size(0) * 10000 + get_global_size(1) * 100 + get_global_size(2);
  o[6] = get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_size(2);
  o[7] = get_work_dim();
}
