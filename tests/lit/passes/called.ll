; S2, S3: only what a launch enters has uniform arguments and all its lanes. A function that is called may be called with an argument of each lane and under divergence.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)
declare i32 @_Z12get_work_dimv()

; CHECK-LABEL: uniformity of 'helper':
; CHECK-NEXT: block #0:
; CHECK-NEXT:   varying (operand %x): %y = mul i32 %x, 3
; CHECK-NEXT:   conditionally uniform: %dim = call i32 @_Z12get_work_dimv()
; CHECK-NEXT:   varying (operand %p): %v = load i32, ptr %p
define i32 @helper(i32 %x, ptr %p) {
  %y = mul i32 %x, 3
  %dim = call i32 @_Z12get_work_dimv()
  %v = load i32, ptr %p
  %s = add i32 %y, %dim
  %t = add i32 %s, %v
  ret i32 %t
}

; A kernel that another calls is such a function, too.
; CHECK-LABEL: uniformity of 'both':
; CHECK:   varying (operand %n): %m = add i32 %n, 1
define spir_kernel void @both(i32 %n, ptr addrspace(1) %p) {
  %m = add i32 %n, 1
  store i32 %m, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: uniformity of 'k':
; CHECK:   uniform: %m = add i32 %n, 1
; CHECK:   varying (unknown call): %h = call i32 @helper
define spir_kernel void @k(i32 %n, ptr addrspace(1) %p) {
  %m = add i32 %n, 1
  %a = alloca i32
  %h = call i32 @helper(i32 %m, ptr %a)
  call spir_kernel void @both(i32 %h, ptr addrspace(1) %p)
  ret void
}
