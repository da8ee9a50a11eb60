; The least and the greatest element of a vector, which LLVM's optimiser makes of chains of `min` and `max`. Found by a random program.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s
; CHECK-COUNT-3: min.u32
; CHECK-NOT: min
; CHECK: max.s64
; CHECK-NOT: max
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %v = load <4 x i16>, ptr addrspace(1) %a
  %least = call i16 @llvm.vector.reduce.umin.v4i16(<4 x i16> %v)
  store i16 %least, ptr addrspace(1) %a
  %w = load <2 x i64>, ptr addrspace(1) %b
  %greatest = call i64 @llvm.vector.reduce.smax.v2i64(<2 x i64> %w)
  store i64 %greatest, ptr addrspace(1) %b
  ret void
}
declare i16 @llvm.vector.reduce.umin.v4i16(<4 x i16>)
declare i64 @llvm.vector.reduce.smax.v2i64(<2 x i64>)
