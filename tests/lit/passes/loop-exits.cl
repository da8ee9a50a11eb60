// Lanes that leave a loop early and those that leave it at its end come to a barrier that LLVM leads both to on different ways:
// together. So do those that come by a test that could end in a trap.
// RUN: rm -rf %t && mkdir %t && cp %s %t/k.cl && cd %t
// RUN: echo '{"source": "k.cl", "buffers": {"a": {"random": [64], "dtype": "int32", "low": 0, "high": 70}, "o": {"zeros": [64], "dtype": "int32"}}, "launches": [{"kernel": "left", "global": [64], "local": [64], "args": [{"buffer": "a"}, {"buffer": "o"}, {"i32": 9}, {"i32": 0}]}, {"kernel": "nested", "global": [64], "local": [64], "args": [{"buffer": "a"}, {"buffer": "o"}, {"i32": 9}, {"i32": 0}]}, {"kernel": "trapping", "global": [64], "local": [64], "args": [{"buffer": "a"}, {"buffer": "o"}, {"i32": 9}, {"i32": 0}]}]}' > case.json
// RUN: %heddle run case.json --mode functional --verify 2>&1 | FileCheck %s
// RUN: %heddle run case.json --mode functional -O0 2>&1 | FileCheck %s
// RUN: %heddle run case.json --mode functional --set warp-size=64 2>&1 | FileCheck %s
// CHECK: left: 64 work-items
// CHECK: nested: 64 work-items
// CHECK: trapping: 64 work-items
kernel void left(global const int *a, global int *o, int n, int arg) {
  local int t[64];
  int l = get_local_id(0), found = 0, s = 0;
  for (int k = 0; k < n; k++) {
    if (a[(l * 7 + k) & 63] == 3) {
      found = 1;
      break;
    }
    s += a[k];
  }
  if (found || (s += 5, arg == 0)) {
    t[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    s += t[(l + 1) % get_local_size(0)];
  }
  o[get_global_id(0)] = s;
}

kernel void nested(global const int *a, global int *o, int n, int arg) {
  local int t[64];
  int l = get_local_id(0), s = 0;
  for (int r = 0; r < 3; r++) {
    int found = 0;
    int k = 0;
    while (k < n) {
      if (a[(l * 5 + k + r) & 63] == 3) {
        found = 1;
        break;
      }
      if (a[(l + k * r) & 63] == 60) {
        s ^= 7;
        found = 2;
        break;
      }
      s += a[k++];
    }
    if (found == 1 || (found == 2 && arg >= 0) || (s += 5, arg == 0)) {
      t[l] = s;
      barrier(CLK_LOCAL_MEM_FENCE);
      s += t[(l + 1) % get_local_size(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  o[get_global_id(0)] = s;
}

kernel void trapping(global const int *a, global int *o, int n, int arg) {
  local int t[64];
  int l = get_local_id(0), x = a[l], s = 0;
  if (x > 1000 || (x == 77 && n > 3))
    __builtin_trap();
  for (int k = 0; k < n; k++) {
    int y = a[(l + k * 3) & 63];
    if (y < 0)
      __builtin_trap();
    if (y == 5) {
      s ^= 3;
      break;
    }
    s += y;
  }
  if (x > 30 || (s += 2, arg == 0)) {
    if (x < -1)
      __builtin_trap();
    t[l] = x + s;
    barrier(CLK_LOCAL_MEM_FENCE);
    s += t[63 - l];
  }
  o[get_global_id(0)] = s;
}
