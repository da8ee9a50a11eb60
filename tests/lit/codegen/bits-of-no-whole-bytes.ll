; Vectors of bits as integers of so many bits and back, where these are no whole bytes: clang's vectoriser makes them of tests of
; several elements. Work-item i tests bits 0 to 2 of i in a vector: the number is i again, and its bits turned round are those of i.
; RUN: %heddle run %s --kernel k --global 8 --local 8 --arg b=zeros:int32:8x2,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w8 -td4 -j128 %t.npy | FileCheck %s
; CHECK: 0 0
; CHECK-NEXT: 1 4
; CHECK-NEXT: 2 2
; CHECK-NEXT: 3 6
; CHECK-NEXT: 4 1
; CHECK-NEXT: 5 5
; CHECK-NEXT: 6 3
; CHECK-NEXT: 7 7
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %b) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %w = trunc i64 %i to i32
  %v0 = insertelement <3 x i32> poison, i32 %w, i64 0
  %v = shufflevector <3 x i32> %v0, <3 x i32> poison, <3 x i32> zeroinitializer
  %masked = and <3 x i32> %v, <i32 1, i32 2, i32 4>
  %bits = icmp ne <3 x i32> %masked, zeroinitializer
  %n = bitcast <3 x i1> %bits to i3
  %wide = zext i3 %n to i32
  %p = getelementptr [2 x i32], ptr addrspace(1) %b, i64 %i
  store i32 %wide, ptr addrspace(1) %p
  %t = trunc i32 %w to i3
  %back = bitcast i3 %t to <3 x i1>
  %turned = shufflevector <3 x i1> %back, <3 x i1> poison, <3 x i32> <i32 2, i32 1, i32 0>
  %m = bitcast <3 x i1> %turned to i3
  %wide2 = zext i3 %m to i32
  %q = getelementptr i8, ptr addrspace(1) %p, i64 4
  store i32 %wide2, ptr addrspace(1) %q
  ret void
}
declare i64 @_Z13get_global_idj(i32)
