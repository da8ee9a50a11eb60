; S4: the inner loop's exit diverges, the outer one's does not. The inner counter varies outside the inner loop; the outer counter stays uniform everywhere. And a
; uniform loop inside a divergent branch is conditionally uniform.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: uniformity of 'nested':
; CHECK: block outer:
; CHECK-NEXT: uniform: %i = phi
; CHECK: block inner:
; CHECK: uniform: %j = phi
; CHECK: divergent branch: br i1 %again
; CHECK: block latch:
; CHECK-NEXT: varying (leaves a loop with a divergent exit, branch in inner): %jout = phi
; CHECK: uniform: %i1 = add
; CHECK: uniform branch: br i1 %more
; CHECK: uniform: %iout = phi
; CHECK: varying ({{.*}}): %last = phi
define spir_kernel void @nested(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %t = trunc i64 %id to i32
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %inner ]
  %j1 = add i32 %j, 1
  %again = icmp slt i32 %j1, %t
  br i1 %again, label %inner, label %latch
latch:
  %jout = phi i32 [ %j, %inner ]
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  %iout = phi i32 [ %i, %latch ]
  %last = phi i32 [ %jout, %latch ]
  store i32 %iout, ptr addrspace(1) %p
  store i32 %last, ptr addrspace(1) %p
  ret void
}

; CHECK-LABEL: uniformity of 'inside':
; CHECK: divergent branch: br i1 %c
; CHECK: conditionally uniform: %i = phi
; CHECK: uniform branch: br i1 %again
define spir_kernel void @inside(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %c = icmp eq i64 %id, 0
  br i1 %c, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %i1 = add i32 %i, 1
  %again = icmp slt i32 %i1, %n
  br i1 %again, label %loop, label %done
done:
  ret void
}
