// A plain inline function, which C99 gives no body of its own, is there where clang does not inline: at -O0, and at -Oz if it is long. Each source has its own.
// RUN: rm -rf %t && mkdir %t && echo "inline int sq(int x) { return x * x + K; }" > %t/sq.h
// RUN: for k in 1 2; do echo "#define K $k" > %t/$k.cl; echo '#include "sq.h"' >> %t/$k.cl; echo "kernel void k$k(global int *o) { o[0] = sq(3); }" >> %t/$k.cl; done
// RUN: %heddle run %s --kernel k --global 64 --arg o=zeros:int32:64 --option=-O0
// RUN: %heddle run %s --kernel k --global 64 --arg o=zeros:int32:64 --option=-cl-opt-disable
// RUN: %heddle run %s --kernel k --global 64 --arg o=zeros:int32:64 --option=-Oz
// RUN: %heddle build -O0 %t/1.cl %t/2.cl --emit asm -o - | FileCheck %s
// RUN: %heddle build -Oz %t/1.cl %t/2.cl --emit asm -o - | FileCheck %s
// CHECK: "name":"k1"
// CHECK: st.global.b32 {{.*}}, 10
// CHECK: "name":"k2"
// CHECK: st.global.b32 {{.*}}, 11
inline int big(int x, global int *a) {
  int s = 0;
  for (int i = 0; i < x; i++) {
    s += a[i & 15];
    for (int j = 0; j < i; j++) {
      s ^= a[j & 15] * 3;
      if (s > 1000)
        s -= a[(i + j) & 15];
    }
  }
  return s;
}
kernel void k(global int *o) {
  int i = get_global_id(0) & 15;
  o[i] = big(i, o) + big(i + 1, o) * big(i + 2, o) - big(i + 3, o) + big(i * 2, o);
}
