// With checks passes run apart from clang: they warn as clang does, and what turns its warnings off turns off theirs.
// RUN: rm -rf %t && mkdir %t && cp %s %t/k.cl
// RUN: echo '{"source": "k.cl", "buffers": {"n": {"zeros": [8], "dtype": "int32"}, "o": {"zeros": [64], "dtype": "int32"}}, "launches": [{"kernel": "k", "global": [64], "args": [{"buffer": "n"}, {"buffer": "o"}]}]}' > %t/case.json
// RUN: %heddle run --check %t/case.json 2>&1 | FileCheck %s --check-prefix=WARNS
// WARNS: warning: {{.*}}loop not unrolled
// RUN: sed 's/{"source"/{"options": ["-w"], "source"/' %t/case.json > %t/quiet.json
// RUN: %heddle run --check %t/quiet.json 2>&1 | FileCheck %s --check-prefix=QUIET
// QUIET-NOT: warning
// QUIET: 64 work-items
kernel void k(global const int *n, global int *o) {
  int i = 0;
#pragma unroll
  while (i < n[0]) {
    i += n[i & 3] + 1;
  }
  o[get_global_id(0)] = i;
}
