// golden: numpy integers; float32 sums of quarters are exact
void add(volatile __global float *p, float v) {
  uint old = *(volatile __global uint *)p, seen;
  while ((seen = atomic_cmpxchg((volatile __global uint *)p, old, as_uint(as_float(old) + v))) != old)
    old = seen;
}
__kernel void every(__global const int *x, volatile __global float *sums, volatile __global int *o, __global int *groups) {
  volatile __local int low, high;
  int i = get_global_id(0), v = x[i];
  if (get_local_id(0) == 0) {
    low = INT_MAX;
    high = INT_MIN;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_min(&low, v);
  atomic_max(&high, v);
  add(&sums[i % 3], v * 0.25f);
  atomic_add(o, v);
  atomic_sub(o + 1, v);
  atomic_min(o + 2, v);
  atomic_max(o + 3, v);
  atomic_inc(o + 4);
  atomic_dec(o + 5);
  atomic_and(o + 6, (v + 64) | 0xffffff80);
  atomic_or(o + 7, v + 64);
  atomic_xor(o + 8, v + 64);
  if (atomic_xchg(o + 9, 1) == 0) // only one sees the zero
    atomic_add(o + 10, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    groups[get_group_id(0)] = high * 1000 + low;
}
