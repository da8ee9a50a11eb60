; An element of a vector of 128-bit integers, as LLVM's optimiser makes it of shuffled vectors: words are only moved. Found by a random program.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s
; CHECK: ld.global.b128 {{.*}} + 16]
; CHECK-NEXT: {{.*}}st.global.b128
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %v = load <16 x i32>, ptr addrspace(1) %a
  %wide = bitcast <16 x i32> %v to <4 x i128>
  %one = extractelement <4 x i128> %wide, i64 1
  %words = bitcast i128 %one to <4 x i32>
  store <4 x i32> %words, ptr addrspace(1) %b
  ret void
}
