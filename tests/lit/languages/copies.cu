// Device code has memcpy and memset, beside the host's.
// RUN: %heddle run %s --kernel k --grid 1 --block 32 --arg a=zeros:int32:16,save=%t.npy --arg i32=13 --check=all
// RUN: od -An -v -w64 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// RUN: %heddle build -DOWN %s -o %t.o
// RUN: cp %s %t.hip
// RUN: %heddle run %t.hip --kernel k --grid 1 --block 32 --arg a=zeros:int32:16,save=%t.npy --arg i32=13 -q
// RUN: od -An -v -w64 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s
// CHECK: 7 8 9 10 7 8 9 10 0 0 0 0 16843009 16843009 -1 1
#include <cstring>
#include <string.h>
struct pair { int first, second; };
// Those that a program has itself are no second ones.
#ifdef OWN
__device__ void *memset(void *to, int byte, size_t bytes) { return __builtin_memset(to, byte, bytes); }
#endif
__global__ void k(int *a, int n) {
  if (threadIdx.x != 0) return;
  int values[4] = {7, 8, 9, 10};
  memcpy(a, values, sizeof values);
  memcpy(a + 4, a, n + 3);
  std::memset(a + 12, 1, n - 5);
  pair x;
  memset(&x, 0xff, sizeof x);
  int bits;
  std::memcpy(&bits, &x.second, sizeof bits);
  a[14] = bits;
  a[15] = 1;
}
int main() {
  int x[4], y[4];
  memcpy(x, y, sizeof x);
  std::memset(x, 0, sizeof x);
  return x[0];
}
