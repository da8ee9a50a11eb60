; Elements of more than 64 bits can be put in another order.
; RUN: %heddle run %s --kernel k --global 1 --local 1 --arg in=zeros:int64:8 --arg out=zeros:int64:8,save=%t.npy --verify
; RUN: od -An -v -w64 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
; CHECK: 7 8 3 4 5 6 1 2
target triple = "nvptx64--"
declare {<2 x i128>, <2 x i128>} @llvm.vector.deinterleave2.v4i128(<4 x i128>)
declare <2 x i128> @llvm.vector.reverse.v2i128(<2 x i128>)
define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  ; 1 to 8, two by two.
  store <8 x i64> <i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8>, ptr addrspace(1) %in
  %x = load volatile <4 x i128>, ptr addrspace(1) %in
  %r = call {<2 x i128>, <2 x i128>} @llvm.vector.deinterleave2.v4i128(<4 x i128> %x)
  %even = extractvalue {<2 x i128>, <2 x i128>} %r, 0
  %odd = extractvalue {<2 x i128>, <2 x i128>} %r, 1
  %back = call <2 x i128> @llvm.vector.reverse.v2i128(<2 x i128> %odd)
  %all = shufflevector <2 x i128> %back, <2 x i128> %even, <4 x i32> <i32 0, i32 1, i32 3, i32 2>
  store <4 x i128> %all, ptr addrspace(1) %out
  ret void
}
