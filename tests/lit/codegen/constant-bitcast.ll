; A constant vector read as another type: the bytes of one are cut into the elements of the other. Found by a random program.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s
; 0x0201, 0x0403 as <4 x i8>: 1, 2, 3, 4.
; CHECK: st.global.b32 {{.*}}, 0x4030201
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %a) {
  store <4 x i8> bitcast (<2 x i16> <i16 513, i16 1027> to <4 x i8>), ptr addrspace(1) %a
  ret void
}
