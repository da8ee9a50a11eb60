kernel void slope(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  int sum = 5;
  if (i + 1 < n)
    sum += a[i + 1];
  if (i + 2 < n)
    sum += a[i + 2];
  if (i > 1)
    sum += a[i - 1];
  o[i] = sum;
  o[i + 64] = sum * i;
}

// Where branches have become guards, a lane that a condition leaves out does not stop at what it guards, and no variable has a value
// that it would not have.
// RUN: %heddle debug %s --kernel slope --global 64 --local 64 --arg a=random:int32:64 --arg o=zeros:int32:128 --arg i32=20 \
// RUN:   -x 'break 5 for 40,0,0' -x continue | FileCheck %s --check-prefix=PASSES
// PASSES: the launch has ended
// RUN: %heddle debug %s --kernel slope --global 64 --local 64 --arg a=random:int32:64 --arg o=zeros:int32:128 --arg i32=20 \
// RUN:   -x 'break 5 for 3,0,0' -x continue | FileCheck %s --check-prefix=STOPS
// STOPS: (heddle) continue
// STOPS-NEXT: breakpoint 1
// RUN: %heddle debug %s --kernel slope --global 64 --local 64 --arg a=random:int32:64 --arg o=zeros:int32:128 --arg i32=20 \
// RUN:   -x 'break 7 for 40,0,0' -x continue | FileCheck %s --check-prefix=PASSES
// RUN: %heddle debug %s --kernel slope --global 64 --local 64 --arg a=random:int32:64 --arg o=zeros:int32:128 --arg i32=20 \
// RUN:   -x 'break 4 for 3,0,0' -x continue -x next -x next -x next | FileCheck %s --check-prefix=LINES
// LINES: (heddle) next
// LINES-NOT: the launch has ended
// LINES: guarded-lanes.cl:{{[5-9]}}:
// RUN: %heddle debug %s --kernel slope --global 64 --local 64 --arg a=random:int32:64 --arg o=zeros:int32:128 --arg i32=20 \
// RUN:   -x 'break 10' -x continue -x 'print sum' | FileCheck %s --check-prefix=VALUE
// VALUE: (heddle) print sum
// VALUE-NOT: sum = 5
