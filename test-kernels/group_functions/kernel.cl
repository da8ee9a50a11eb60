// golden: numpy integers (generate.py of this folder); sub-groups check themselves, because their size is the machine's
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void integers(__global const int *x, __global int4 *out, __global ulong *wide) {
  size_t i = get_global_id(0);
  int v = x[i];
  out[i] = (int4)(ctz(v), ctz((uchar)v), mad_hi(v, 1 << 20, 7), ctz((short4)(0, 1, (short)v, 8)).z);
  wide[i] = ctz((ulong)(uint)v << 20) + mad_hi((ulong)(uint)v << 32, (ulong)3 << 40, (ulong)5);
}
__kernel void atomics(__global const int *x, __global atomic_int *sums, __global long *longs, __global atomic_flag *flag) {
  __local atomic_uint count;
  if (get_local_id(0) == 0)
    atomic_init(&count, 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = x[get_global_id(0)];
  atomic_fetch_add(&sums[0], v);
  atomic_fetch_max_explicit(&sums[1], v, memory_order_relaxed, memory_scope_device);
  atomic_fetch_xor_explicit(&sums[2], v, memory_order_acq_rel);
  atom_add(&longs[0], (long)v << 20);
  atom_min(&longs[1], -((long)v << 31));
  atom_inc(&longs[2]);
  atomic_fetch_add(&count, 1u);
  // A lock-free maximum of squares.
  int old = atomic_load(&sums[3]), square = v % 1000 * (v % 1000);
  while (square > old && !atomic_compare_exchange_strong(&sums[3], &old, square))
    ;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    atomic_fetch_add(&sums[4], (int)atomic_load_explicit(&count, memory_order_acquire, memory_scope_work_group));
    if (!atomic_flag_test_and_set(flag))
      atomic_store(&sums[5], 77);
  }
}
__kernel void groups(__global const int *x, __global int *out, __global float *f) {
  size_t i = get_global_id(0);
  int v = x[i] >> 8;
  out[i * 6] = work_group_reduce_add(v);
  out[i * 6 + 1] = work_group_scan_inclusive_max(v);
  out[i * 6 + 2] = work_group_scan_exclusive_add(v);
  out[i * 6 + 3] = work_group_broadcast(v, 5);
  out[i * 6 + 4] = work_group_any(v > 8000000) * 2 + work_group_all(v > -9000000);
  out[i * 6 + 5] = work_group_scan_exclusive_min(v);
  f[i] = work_group_reduce_max((float)v);
}
// Relations that hold for every size of a sub-group.
__kernel void sub_groups(__global const int *x, __global int *ok) {
  size_t i = get_global_id(0);
  int v = x[i] >> 8;
  uint last = get_sub_group_size() - 1, lane = get_sub_group_local_id();
  int sum = sub_group_scan_inclusive_add(v);
  int good = sum - sub_group_scan_exclusive_add(v) == v;
  good += sub_group_broadcast(sum, last) == sub_group_reduce_add(v);
  good += sub_group_reduce_max((long)v) >= v && sub_group_reduce_min((double)v) <= v;
  good += sub_group_scan_exclusive_max(lane) == (lane ? lane - 1 : 0u);
  good += sub_group_all(v < 8388608) && !sub_group_any(v < -8388608) && sub_group_any(lane == last);
  good += get_sub_group_id() * get_max_sub_group_size() + lane == get_local_linear_id();
  good += get_num_sub_groups() == (get_local_size(0) + get_max_sub_group_size() - 1) / get_max_sub_group_size();
  sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
  ok[i] = good;
}
__kernel void halves(__global half *h) {
  size_t i = get_global_id(0);
  half v = h[i];
  h[i] = fma(v, (half)2.0f, sqrt(fabs(v))) - floor(v);
}
