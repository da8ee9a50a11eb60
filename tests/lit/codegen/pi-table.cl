// The library reads its table of the bits of 2/pi 16 bytes at a time, aligned and beyond its end, though the table says that it needs no alignment.
// RUN: %heddle run %s --kernel sines --global 1 --arg out=zeros:int64:3,save=%t.npy
// RUN: od -An -v -w8 -t d8 -j 128 %t.npy | FileCheck %s
constant char odd[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
kernel void sines(global long *out) {
  // CHECK: 9
  out[0] = odd[out[0]];
  // sin(10^22) = -0.852200849767138
  // CHECK-NEXT: -852200849767
  out[1] = (long)(sin(1e22 + out[1]) * 1e12);
  // sin(10^7) = 0.420547793190783
  // CHECK-NEXT: 420547793190
  out[2] = (long)(sin(1e7 + out[2]) * 1e12);
}
