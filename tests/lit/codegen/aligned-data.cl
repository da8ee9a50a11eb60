// Program-scope data is where its largest alignment wants it.
// RUN: %heddle run %s --kernel k --global 1 2>&1 | FileCheck %s
// CHECK: 0 7
constant int page[3] __attribute__((aligned(4096))) = {5, 6, 7};
kernel void k(void) {
  printf("%d %d\n", (int)((ulong)(page + get_global_id(0)) & 4095), page[get_global_id(0) + 2]);
}
