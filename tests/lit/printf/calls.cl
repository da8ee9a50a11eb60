// Where calls stand: under divergence, in loops, in helpers, with a chosen format or string; what they return; and what is dropped.
// RUN: %heddle run -q %s --kernel diverge --global 8 --local 8 --arg a=zeros:int32:8 --mode timing | FileCheck %s --check-prefix=DIVERGE --match-full-lines
// RUN: %heddle run -q %s --kernel diverge --global 8 --local 8 --arg a=zeros:int32:8 --mode functional --check | FileCheck %s --check-prefix=DIVERGE --match-full-lines
// DIVERGE-DAG: even 0 of none
// DIVERGE-DAG: odd 1
// DIVERGE-DAG: even 2 of none
// DIVERGE-DAG: odd 3
// DIVERGE-DAG: even 4 of some
// DIVERGE-DAG: odd 5
// DIVERGE-DAG: even 6 of some
// DIVERGE-DAG: odd 7
// DIVERGE-DAG: helper 3: 14
// DIVERGE-DAG: turn 0
// DIVERGE-DAG: turn 1
// DIVERGE-DAG: turn 2
// DIVERGE-DAG: either 0
// DIVERGE-DAG: or 1
void helper(int i) { if (i == 3) printf("helper %d: %d\n", i, i * 4 + 2); }
__kernel void diverge(__global int *a) {
  int i = get_global_id(0);
  if (i & 1)
    printf("odd %d\n", i);
  else
    printf("even %d of %s\n", i, i < 4 ? "none" : "some");
  helper(i);
  for (int k = 0; k < i && i == 3; k++) printf("turn %d\n", k);
  if (i < 2) printf(i ? "or %d\n" : "either %d\n", i);
  a[i] = i;
}

// Three messages of 8 bytes fit 24: calls 0 to 2 return 0, the other five -1.
// RUN: %heddle run -q %s --kernel full --global 8 --local 8 --arg a=zeros:int32:8,save=%t.npy --printf-buffer 24 > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=FULL --match-full-lines < %t.out
// RUN: FileCheck %s --check-prefix=WARNING < %t.err
// FULL: call 0
// FULL-NEXT: call 1
// FULL-NEXT: call 2
// FULL-NOT: {{.}}
// WARNING: {{.*}}calls.cl: warning: printf: 5 messages of 40 bytes dropped, because a launch's buffer of 24 bytes was full; --printf-buffer sets its size
// RUN: python3 -c "import sys; d = open(sys.argv[1], 'rb').read()[-32:]; assert d == bytes(12) + b'\xff' * 20, d" %t.npy
__kernel void full(__global int *a) {
  int i = get_global_id(0);
  a[i] = printf("call %d\n", i);
}

// With the statistics on standard output the text is one of their fields.
// RUN: %heddle run -q %s --kernel full --global 2 --arg a=zeros:int32:8 --json - | FileCheck %s --check-prefix=JSON
// JSON: {
// JSON: "printf": {
// JSON-NEXT: "dropped_bytes": 0
// JSON-NEXT: "dropped_messages": 0
// JSON-NEXT: "messages": 2
// JSON-NEXT: "text": "call 0\ncall 1\n"

// What was printed before a fault.
// RUN: not %heddle run -q %s --kernel fault --global 1 --arg a=zeros:int32:8 > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=FAULT --match-full-lines < %t.out
// RUN: not %heddle run -q %s --kernel fault --global 1 --arg a=zeros:int32:8 --mode functional > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=FAULT --match-full-lines < %t.out
// FAULT: before
__kernel void fault(__global int *a) {
  printf("before\n");
  a[1 << 20] = 1;
}
