// Variables in local memory are placed by their alignment, the most aligned first, so that nothing stays free between them:
// 64 + 32 + 4 bytes are 100. In the order of their use they would be 128.
// RUN: %heddle build %s --emit asm -o - | FileCheck %s
// CHECK: "local_bytes":100,
kernel void k(global float *out) {
  local int one;
  local float row[16];
  local float8 wide;
  uint l = get_local_id(0);
  atomic_add(&one, (int)l);
  row[l & 15] = out[l];
  ((local float *)&wide)[l & 7] = out[l + 16];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = row[(l + 1) & 15] + one * ((local float *)&wide)[(l + 3) & 7];
}
