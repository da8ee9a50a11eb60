; Private pointers to pointers are no generic pointers: the pass leaves such a module alone.
; RUN: %heddle opt --passes=generic %s | FileCheck %s

; CHECK-LABEL: define spir_kernel void @private
; CHECK: %list = alloca
; CHECK: store ptr %y, ptr %z
; CHECK-NOT: addrspace(5)
; CHECK: %p = load ptr, ptr %z
; CHECK-NEXT: %v = load i32, ptr %p
; CHECK-NOT: ptrtoint
; CHECK: ret void
define spir_kernel void @private(ptr addrspace(1) %a, i32 %n) {
  %x = alloca [4 x i32]
  %list = alloca [2 x ptr]
  %y = getelementptr i32, ptr %x, i32 %n
  store i32 3, ptr %y
  %z = getelementptr ptr, ptr %list, i32 %n
  store ptr %x, ptr %list
  store ptr %y, ptr %z
  %p = load ptr, ptr %z
  %v = load i32, ptr %p
  store i32 %v, ptr addrspace(1) %a
  ret void
}
