// What clang makes an intrinsic of, named by `__builtin_`, is the library's function in sources, too.
// RUN: %heddle run %s --kernel k --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy --mode timing --verify
// RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// RUN: %heddle run %s --option=-O0 --kernel k --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy
// RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// RUN: %heddle run %s --kernel k --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy --check=all
// RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// CHECK: 31 31 31 31 31 31 31 31
// RUN: cp %s %t.clcpp
// RUN: %heddle run %t.clcpp --kernel k --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy
// RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
kernel void k(global int *out) {
  int i = get_global_id(0);
  float x = (i + 1) * .125f;
  int bits = __builtin_powf(x, 2.5f) == pow(x, 2.5f);
  bits |= (__builtin_powif(x, 3) == pown(x, 3)) << 1;
  bits |= (__builtin_tanhf(x) == tanh(x)) << 2;
  bits |= (__builtin_elementwise_sin((double)x) == sin((double)x)) << 3;
  bits |= (__builtin_exp10(x) == exp10((double)x)) << 4;
  out[i] = bits;
}
