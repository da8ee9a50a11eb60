// Vectors at any word: those in two sectors, or two lines, are performed word by word. The bytes are those of a machine that
// performs vectors at multiples of their size only, in both modes, whatever the caches hold; and what is compiled for the one
// is refused by the other.
// DEFINE: %{launch} = --kernel k --global 331 --local 64 --arg in=random:float32:2000,seed=5 --arg at=random:uint32:331,low=0,high=1996,seed=6
// DEFINE: %{out} = --arg out=zeros:float32:1655
// RUN: %heddle run %s %{launch} %{out},save=%t.1.npy --set memory.unaligned-vectors=false --mode functional
// RUN: %heddle run %s %{launch} %{out},save=%t.2.npy --mode functional --jit=never
// RUN: cmp %t.1.npy %t.2.npy
// RUN: %heddle run %s %{launch} %{out},save=%t.3.npy --mode functional --jit=always
// RUN: cmp %t.1.npy %t.3.npy
// RUN: %heddle run %s %{launch} %{out},save=%t.4.npy
// RUN: cmp %t.1.npy %t.4.npy
// RUN: %heddle run %s %{launch} %{out},save=%t.5.npy --set memory.data.bytes=512 --set memory.data.ways=2 --set memory.l2.bytes=4096 --set memory.l2.ways=4 --threads 2
// RUN: cmp %t.1.npy %t.5.npy
// RUN: %heddle run %s %{launch} %{out},save=%t.6.npy --set memory.sector-bytes=128
// RUN: cmp %t.1.npy %t.6.npy
// RUN: %heddle build %s --emit asm -o %t.s
// RUN: not %heddle run %t.s %{launch} %{out} --set memory.unaligned-vectors=false 2>&1 | FileCheck %s
// CHECK: kernel `k`: it is compiled for a machine on which vectors of device memory may begin at any word (memory.unaligned-vectors)
kernel void k(global const float *in, global const uint *at, global float *out) {
  uint i = get_global_id(0);
  float4 v = vload4(0, in + at[i]);
  float2 w = vload2(0, in + (at[i] ^ 1) + (i & 1));
  v.xy += w.yx;
  vstore4(v, 0, out + 5 * i);
  out[5 * i + 4] = w.x;
}
