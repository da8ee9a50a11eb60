// Many flags that loads under conditions set, more than there are predicate registers: guards and flags are spilled.
// RUN: %heddle build %s --verify --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --verify --set sm.predicate-registers=5 --emit asm -o /dev/null
// RUN: %heddle build %s --verify --set sm.predicate-registers=3 --emit asm -o /dev/null
// CHECK: @{{!?}}p{{[0-9]+}} ld.global
kernel void k(global const int *a, global int *o, int n, int m) {
  int i = get_global_id(0), s = 0;
  bool f0 = i > 0;
  bool f1 = i > 1;
  bool f2 = i > 2;
  bool f3 = i > 3;
  bool f4 = i > 4;
  bool f5 = i > 5;
  bool f6 = i > 6;
  bool f7 = i > 7;
  bool f8 = i > 8;
  bool f9 = i > 9;
  bool f10 = i > 10;
  bool f11 = i > 11;
  bool f12 = i > 12;
  bool f13 = i > 13;
  bool f14 = i > 14;
  bool f15 = i > 15;
  for (int j = 0; j < m; j++) {
    if (i + 1 * j < n) f0 = a[i * 2 + j * 1] > 0;
    if (i + 2 * j < n) f1 = a[i * 3 + j * 2] > 1;
    if (i + 3 * j < n) f2 = a[i * 4 + j * 3] > 2;
    if (i + 4 * j < n) f3 = a[i * 5 + j * 4] > 3;
    if (i + 5 * j < n) f4 = a[i * 6 + j * 5] > 4;
    if (i + 6 * j < n) f5 = a[i * 7 + j * 6] > 5;
    if (i + 7 * j < n) f6 = a[i * 8 + j * 7] > 6;
    if (i + 8 * j < n) f7 = a[i * 9 + j * 8] > 7;
    if (i + 9 * j < n) f8 = a[i * 10 + j * 9] > 8;
    if (i + 10 * j < n) f9 = a[i * 11 + j * 10] > 9;
    if (i + 11 * j < n) f10 = a[i * 12 + j * 11] > 10;
    if (i + 12 * j < n) f11 = a[i * 13 + j * 12] > 11;
    if (i + 13 * j < n) f12 = a[i * 14 + j * 13] > 12;
    if (i + 14 * j < n) f13 = a[i * 15 + j * 14] > 13;
    if (i + 15 * j < n) f14 = a[i * 16 + j * 15] > 14;
    if (i + 16 * j < n) f15 = a[i * 17 + j * 16] > 15;
    if (f0) s = s * 3 + 0;
    if (f1) s = s * 3 + 1;
    if (f2) s = s * 3 + 2;
    if (f3) s = s * 3 + 3;
    if (f4) s = s * 3 + 4;
    if (f5) s = s * 3 + 5;
    if (f6) s = s * 3 + 6;
    if (f7) s = s * 3 + 7;
    if (f8) s = s * 3 + 8;
    if (f9) s = s * 3 + 9;
    if (f10) s = s * 3 + 10;
    if (f11) s = s * 3 + 11;
    if (f12) s = s * 3 + 12;
    if (f13) s = s * 3 + 13;
    if (f14) s = s * 3 + 14;
    if (f15) s = s * 3 + 15;
  }
  o[i] = s;
}
