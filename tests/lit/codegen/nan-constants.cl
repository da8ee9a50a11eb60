// Constants that are NaNs keep their bits, signalling ones too: as_float reads bits, and a store writes them.
// RUN: %heddle run %s --kernel k --global 1 --local 1 --arg out=zeros:uint64:4,save=%t.npy
// RUN: od -An -v -w32 -tx8 -j128 %t.npy | FileCheck %s
// RUN: %heddle run %s --option=-O0 --kernel k --global 1 --local 1 --arg out=zeros:uint64:4,save=%t.npy
// RUN: od -An -v -w32 -tx8 -j128 %t.npy | FileCheck %s
// CHECK: 7fa00001ffbfffff 7ff4000000000001 fff7ffffffffffff 7f8000017d01fdff
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__constant float table[] = {__builtin_nansf("1")};
__kernel void k(__global void *out) {
  __global float *f = out;
  __global double *d = out;
  __global half *h = out;
  f[0] = as_float(0xffbfffffu);
  f[1] = as_float(0x7fa00001u);
  d[1] = as_double(0x7ff4000000000001ul);
  d[2] = as_double(0xfff7fffffffffffful);
  h[12] = as_half((ushort)0xfdff);
  h[13] = as_half((ushort)0x7d01);
  f[7] = as_float(as_uint(table[get_global_id(0)]) & 0xff8fffffu);
}
