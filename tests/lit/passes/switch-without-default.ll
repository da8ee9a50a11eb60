; A switch in a loop whose default is never taken: who took that way would end there, and the others come together before the next
; iteration. So nothing is changed.
; RUN: %heddle opt --passes='heddle-prepare' %s | FileCheck %s
; RUN: %heddle opt --passes='heddle-prepare,print<uniformity>' --disable-output %s | FileCheck %s --check-prefix=UNIFORM

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: define spir_kernel void @k
; CHECK: loop:
; CHECK: switch
; CHECK-NOT: Flow
; CHECK-NOT: loop.latch
; CHECK: ret void
; UNIFORM: block loop:
; UNIFORM-NEXT: uniform: {{.*}} = phi i32 [ 0, %entry ]
define spir_kernel void @k(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %x = phi i32 [ %t, %entry ], [ %y, %latch ]
  %i1 = add i32 %i, 1
  %low = and i32 %x, 1
  switch i32 %low, label %never [
    i32 0, label %even
    i32 1, label %odd
  ]
never:
  unreachable
odd:
  %three = mul i32 %x, 3
  %up = add i32 %three, 1
  br label %latch
even:
  %down = lshr i32 %x, 1
  br label %latch
latch:
  %y = phi i32 [ %up, %odd ], [ %down, %even ]
  %more = icmp ugt i32 %y, 1
  br i1 %more, label %loop, label %end
end:
  %sum = add i32 %y, %i1
  store i32 %sum, ptr addrspace(1) %p
  ret void
}
