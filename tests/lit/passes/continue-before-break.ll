; A loop whose only way out stands behind a `continue`: the branch in the header reconverges at the way out, which lanes that continue come to in
; another iteration. So lanes are in different iterations, and the counter is not shared. (The loop of the second kernel has the same blocks, and its
; way out in the latch.)
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: uniformity of 'middle':
; CHECK: block loop:
; CHECK-NEXT: varying (loop desynchronised by the branch in loop): %i = phi
; CHECK: block end:
; CHECK-NEXT: varying ({{.*}}): %out = phi
define spir_kernel void @middle(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %i, %t
  br i1 %c, label %latch, label %rest
rest:
  %d = icmp slt i32 %i1, %n
  br i1 %d, label %latch, label %end
latch:
  br label %loop
end:
  %out = phi i32 [ %i1, %rest ]
  store i32 %out, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: uniformity of 'latch':
; CHECK: block loop:
; CHECK-NEXT: uniform: %i = phi
; CHECK: block end:
; CHECK-NEXT: uniform: %out = phi
define spir_kernel void @latch(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %i, %t
  br i1 %c, label %latch, label %rest
rest:
  br label %latch
latch:
  %d = icmp slt i32 %i1, %n
  br i1 %d, label %loop, label %end
end:
  %out = phi i32 [ %i1, %latch ]
  store i32 %out, ptr addrspace(1) %p
  ret void
}
