// Golden: Python integers; nested divergent loops with breaks, continues, a goto and a return.
__kernel void k(__global const int *a, __global int *out, int n, int m) {
  int g = get_global_id(0);
  int acc = 0;
  for (int i = 0; i < n; i++) {
    int v = a[(g * 7 + i) & 255];
    if (v & 1) {
      if (v > 200) break;
      if (v < 20) continue;
      acc += i;
      for (int j = 0; j < m; j++) {
        if (a[(v + j) & 255] == j) { acc += 100; break; }
        if (a[(acc + j) & 255] > 250) goto next;
        acc ^= j;
      }
    } else if (v & 2) {
      acc += 3 * i;
      if (acc > 5000) { out[g] = -acc; return; }
    }
next:
    acc += 1;
  }
  out[g] = acc;
}
