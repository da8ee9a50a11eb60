; Calls are inlined, and values that leave a loop do so through a phi: the form that the analyses and selection expect.
; RUN: %heddle opt --passes=heddle-prepare %s | FileCheck %s

; CHECK-NOT: @helper
; CHECK-LABEL: define spir_kernel void @k
; CHECK: end:
; CHECK-NEXT: [[LAST:%.*]] = phi i32 [ %next, %loop ]
; CHECK-NEXT: [[R:%.*]] = mul i32 [[LAST]], 3
; CHECK-NEXT: store i32 [[R]], ptr addrspace(1) %p
define internal i32 @helper(i32 %x) alwaysinline {
  %y = mul i32 %x, 3
  ret i32 %y
}

define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  %r = call i32 @helper(i32 %next)
  store i32 %r, ptr addrspace(1) %p
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
