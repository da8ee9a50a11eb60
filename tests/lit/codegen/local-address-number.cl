// Numbers made of the addresses of local variables are constants only the machine's code knows: alone, in sums and differences, and turned into pointers again.
// RUN: %heddle run %s --kernel numbers --global 4 --arg out=zeros:uint64:8,save=%t.npy
// RUN: od -An -v -w8 -t x8 -j 128 %t.npy | FileCheck %s
kernel void numbers(global ulong *out) {
  local int room[5], v[4];
  size_t i = get_local_id(0);
  room[i] = 1;
  v[i] = 70 + i;
  barrier(CLK_LOCAL_MEM_FENCE);
  ulong second = (ulong)(int *)&v[1], first = (ulong)(int *)v;
  // The aperture of local memory.
  // CHECK: 0000000080000003
  out[0] = second >> 32;
  // CHECK-NEXT: 0000000000000004
  out[1] = second - first;
  // CHECK-NEXT: 0000000000000048
  out[2] = *(int *)(second + 4);
  // CHECK-NEXT: 0000000000000008
  out[3] = (uint)(ulong)&v[2] - (uint)(ulong)v;
  // CHECK-NEXT: 0000000000000001
  out[4] = room[3];
  // CHECK-NEXT: 0000000000000047
  out[5] = *(int *)((first ^ 4) == second ? second : first + 4);
  // CHECK-NEXT: 0000000000000000
  out[6] = (ulong)v == 0;
}
