; S4: a counter is uniform inside a loop with a divergent exit and varying outside it.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: uniformity of 'exit':
; CHECK: block loop:
; CHECK-NEXT: uniform: %i = phi
; CHECK: divergent branch
; CHECK: varying (leaves a loop with a divergent exit, branch in loop): %out = phi
define spir_kernel void @exit(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %c = icmp slt i32 %next, %t
  br i1 %c, label %loop, label %done
done:
  %out = phi i32 [ %i, %loop ]
  store i32 %out, ptr addrspace(1) %p
  ret void
}

; A break under a divergent branch: lanes of one warp run different iterations one after the other, so the counter is no longer shared.
; CHECK-LABEL: uniformity of 'break':
; CHECK: varying (loop desynchronised by the branch in loop): %i = phi
define spir_kernel void @break(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %c = icmp slt i32 %i, %t
  br i1 %c, label %maybe, label %latch
maybe:
  %b = icmp eq i32 %i, 5
  br i1 %b, label %done, label %latch
latch:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  %out = phi i32 [ %i, %maybe ], [ %next, %latch ]
  store i32 %out, ptr addrspace(1) %p
  ret void
}
