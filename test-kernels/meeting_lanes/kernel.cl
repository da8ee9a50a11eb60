// Code that lanes of a warp come to by different ways, and run together.

// Of each work-group the first item does more, if all are asked to; then all go on to a barrier.
kernel void ask_first(global int *out, global int *log, local int *shared, int more) {
  int t = get_local_id(0), n = get_local_size(0), g = get_group_id(0);
  shared[t] = get_global_id(0) * 3 + more;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    log[2 * g] = shared[n / 2];
    if (more) log[2 * g + 1] = shared[n - 1];
  }
  if (more) {
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[n - 1 - t] ^= shared[n - 1 - t] << 7;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = shared[t];
}

// A work-item adds all of its group's values where its own is large, or, of the others, where a table says so: all do.
kernel void either(global const int *values, global const int *table, global int *out, local int *shared) {
  int i = get_global_id(0), t = get_local_id(0), n = get_local_size(0), v = values[i], sum = 0;
  if (v > 50 || table[v]) {
    shared[t] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++) sum = sum * 3 + shared[(t + k) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sum;
}

// Which of three steps a work-item begins with differs; from there on it does all.
kernel void from_step(global const int *values, global const int *table, global int *out) {
  int i = get_global_id(0), v = values[i], x = v;
  switch (v & 3) {
  case 0:
    x += table[v];
  case 1:
    for (int k = 0; k < (v & 7); k++) x = x * 5 + table[(x & 31) + k];
  case 2:
    for (int k = 0; k < 4; k++) x ^= x << 3 ^ table[x & 63];
    break;
  default:
    x = -x;
  }
  out[i] = x;
}

// Lanes that leave the loop early meet those that leave it at its end before the barrier.
kernel void left_early(global const int *values, global const int *table, global int *out, local int *shared, int steps, int arg) {
  int l = get_local_id(0), n = get_local_size(0), g = get_global_id(0), sum = 0;
  for (int r = 0; r < 3; r++) {
    int found = 0, k = 0;
    while (k < steps) {
      if (values[(g * 7 + k + r) % 64] < 8) {
        found = 1;
        break;
      }
      if (values[(g + k * r) % 64] > 95) {
        sum ^= 7;
        found = 2;
        break;
      }
      sum += table[k++];
    }
    if (found == 1 || (found == 2 && arg >= 0) || (sum += 5, arg == 0)) {
      shared[l] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
      sum += shared[(l + 1) % n];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  out[g] = sum;
}
