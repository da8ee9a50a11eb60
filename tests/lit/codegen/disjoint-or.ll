; An or of disjoint bits is selected as a sum, which strength reduction and address arithmetic take apart.
; RUN: %heddle build %s --emit mir --stop-after select -o - | FileCheck %s
; CHECK-NOT: or.b32
; CHECK: add.b32 [[V:%[0-9]+]], c[0x10], 1
; CHECK-NOT: or.b32
; CHECK: st.global.b32
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %q, i32 %n) {
  %odd = or disjoint i32 %n, 1
  store i32 %odd, ptr addrspace(1) %q, align 4
  ret void
}
