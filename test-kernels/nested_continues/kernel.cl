// Golden: Python integers; loops that are left in the middle only, the inner one by a `goto`, too.
__kernel void k(__global int *out, int n) {
  int g = get_global_id(0);
  int sum = 0, rounds = 0;
  for (int i = 0, j = g & 7;; i++) {
    rounds += 2;
    switch ((j + i) % 5) {
      case 0: sum += i; continue;
      case 3:
        for (int k = 0;; k++) {
          sum += k;
          if (((j ^ k) & 3) == 1 && k < 40) continue;
          if (k > j) goto counted;
          sum ^= k << 3;
          if (k * 3 > i) break;
        }
    }
    if (i & 1 && i < n) continue;
counted:
    j = (j * 5 + sum) & 15;
    if (i > 20 + (g & 31)) break;
  }
  out[g * 2] = sum;
  out[g * 2 + 1] = rounds;
}
