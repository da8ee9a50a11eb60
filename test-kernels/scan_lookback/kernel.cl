// golden: numpy cumulative sum
// A group's state: 0 nothing, 1 its own sum, 2 the sum of all up to it. A group only waits for groups that hold earlier tickets, which run.
__kernel void scan(__global const int *in, __global int *out, volatile __global int *ticket, volatile __global int *state, volatile __global int *own,
                   volatile __global int *upto, int n) {
  __local int s[64];
  __local int group[1], before[1];
  int t = get_local_id(0);
  if (t == 0)
    *group = atomic_inc(ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  int g = *group, i = g * 64 + t;
  s[t] = i < n ? in[i] : 0;
  for (int step = 1; step < 64; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    int sum = 0;
    atomic_xchg(&own[g], s[63]);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&state[g], 1);
    for (int k = g - 1; k >= 0;) {
      int flag = atomic_add(&state[k], 0);
      if (flag == 0)
        continue;
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      sum += flag == 2 ? atomic_add(&upto[k], 0) : atomic_add(&own[k], 0);
      if (flag == 2)
        break;
      k--;
    }
    *before = sum;
    atomic_xchg(&upto[g], sum + s[63]);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&state[g], 2);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n)
    out[i] = *before + s[t];
}
