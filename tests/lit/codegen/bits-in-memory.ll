; Vectors of bits lie in memory without gaps, element 0 lowest: LLVM loads one where only some bits of a vector of bytes matter.
; Work-item i writes the word 0x11111111 * i, and has of it in the second column bit 9, in the third all of it as 32 bits, in the
; fourth its lowest 20 bits but the first, and in the last one bits 8 to 18 as a vector of 11.
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg b=zeros:int32:4x5,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w20 -tx4 -j128 %t.npy | FileCheck %s
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg b=zeros:int32:4x5,save=%t.npy --mode functional --no-scalarize
; RUN: od -An -v -w20 -tx4 -j128 %t.npy | FileCheck %s
; RUN: sed 's/i1/i4/g;s/false/0/' %s > %t.ll
; RUN: not %heddle build %t.ll -o - 2>&1 | FileCheck %s --check-prefix=NIBBLES
; CHECK: 00000000 00000000 00000000 00000000 00000000
; CHECK-NEXT: 11111111 00000000 11111111 00011110 00000111
; CHECK-NEXT: 22222222 00000001 22222222 00022222 00000222
; CHECK-NEXT: 33333333 00000001 33333333 00033332 00000333
; NIBBLES: error: {{.*}}a vector in memory whose elements have 4 bits is not supported
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %b) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %w = trunc i64 %i to i32
  %word = mul i32 %w, 286331153
  %p = getelementptr [5 x i32], ptr addrspace(1) %b, i64 %i
  store i32 %word, ptr addrspace(1) %p
  %v = load <32 x i1>, ptr addrspace(1) %p, align 4
  %bit = extractelement <32 x i1> %v, i64 9
  %wide = zext i1 %bit to i32
  %p1 = getelementptr i8, ptr addrspace(1) %p, i64 4
  store i32 %wide, ptr addrspace(1) %p1
  %p2 = getelementptr i8, ptr addrspace(1) %p, i64 8
  store <32 x i1> %v, ptr addrspace(1) %p2, align 2
  %p3 = getelementptr i8, ptr addrspace(1) %p, i64 12
  %q = load <20 x i1>, ptr addrspace(1) %p2, align 4
  %r = insertelement <20 x i1> %q, i1 false, i64 0
  store <20 x i1> %r, ptr addrspace(1) %p3, align 4
  %p4 = getelementptr i8, ptr addrspace(1) %p, i64 16
  %byte = getelementptr i8, ptr addrspace(1) %p, i64 1
  %s = load <11 x i1>, ptr addrspace(1) %byte, align 1
  store <11 x i1> %s, ptr addrspace(1) %p4, align 1
  ret void
}
declare i64 @_Z13get_global_idj(i32)
