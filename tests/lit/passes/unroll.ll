; Loops that clang leaves, because only a launch knows how often they go round, become several copies: more of them where all lanes of a
; warp leave together. What is left over is a loop behind it, of two copies in the first case.
; RUN: %heddle opt --passes=heddle-unroll %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: define spir_kernel void @together
; CHECK: loop:
; CHECK-COUNT-8: store volatile float
; CHECK: br i1 {{.*}}, label %{{.*}}, label %loop
; CHECK: loop.epil:
; CHECK-COUNT-2: store volatile float
; CHECK: br i1 {{.*}}, label %{{.*}}, label %loop.epil
; CHECK: store volatile float
; CHECK-NOT: store
; CHECK: ret void
define spir_kernel void @together(ptr addrspace(1) %p, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = sitofp i32 %i to float
  store volatile float %x, ptr addrspace(1) %p
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Each lane has its own bound: fewer copies are wanted, and one of what is left over.
; CHECK-LABEL: define spir_kernel void @one_by_one
; CHECK: loop:
; CHECK-COUNT-4: store volatile float
; CHECK-NOT: store
; CHECK: br i1 {{.*}}, label %{{.*}}, label %loop
; CHECK: loop.epil:
; CHECK-COUNT-1: store volatile float
; CHECK-NOT: store
; CHECK: ret void
define spir_kernel void @one_by_one(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %n = trunc i64 %id to i32
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = sitofp i32 %i to float
  %y = fmul float %x, %x
  %z = fadd float %y, %x
  store volatile float %z, ptr addrspace(1) %p
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; The program has said something.
; CHECK-LABEL: define spir_kernel void @told
; CHECK-COUNT-1: store volatile float
; CHECK-NOT: store
; CHECK: ret void
define spir_kernel void @told(ptr addrspace(1) %p, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = sitofp i32 %i to float
  store volatile float %x, ptr addrspace(1) %p
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}

; A loop that is left in two ways stays.
; CHECK-LABEL: define spir_kernel void @two_exits
; CHECK-COUNT-1: store volatile float
; CHECK-NOT: store
; CHECK: ret void
define spir_kernel void @two_exits(ptr addrspace(1) %p, i32 %n, i32 %k) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %go_on ]
  %x = sitofp i32 %i to float
  store volatile float %x, ptr addrspace(1) %p
  %found = icmp eq i32 %i, %k
  br i1 %found, label %end, label %go_on
go_on:
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; No loop goes round four times only.
; CHECK-LABEL: define spir_kernel void @short
; CHECK-NOT: br
; CHECK-COUNT-4: store volatile i32
; CHECK-NEXT: ret void
define spir_kernel void @short(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 8, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr addrspace(1) %p
  %next = lshr i32 %i, 1
  %more = icmp ne i32 %next, 0
  br i1 %more, label %loop, label %end
end:
  ret void
}

; What is asked of a work-group in a loop does not change in it, though LLVM may not know.
; CHECK-LABEL: define spir_kernel void @asks
; CHECK: call i64 @_Z14get_local_sizej(i32 0)
; CHECK: loop:
; CHECK-NOT: call
; CHECK-COUNT-8: store volatile i64
; CHECK: br i1 {{.*}}, label %{{.*}}, label %loop
define spir_kernel void @asks(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  store volatile i64 %i, ptr addrspace(1) %p
  %size = call i64 @_Z14get_local_sizej(i32 0) #0
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %size
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare i64 @_Z14get_local_sizej(i32) #0

attributes #0 = { convergent nounwind willreturn memory(none) }
; The comparison with what is asked for stands at the loop's beginning, as clang leaves it.
; CHECK-LABEL: define spir_kernel void @asks_first
; CHECK-COUNT-8: store volatile i64
; CHECK: br i1
define spir_kernel void @asks_first(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %size = call i64 @_Z14get_local_sizej(i32 0) #0
  %more = icmp ult i64 %i, %size
  br i1 %more, label %body, label %end
body:
  store volatile i64 %i, ptr addrspace(1) %p
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}

; A counter of 32 bits, and a size of 64.
; CHECK-LABEL: define spir_kernel void @narrow
; CHECK-COUNT-8: store volatile i32
; CHECK: br i1
define spir_kernel void @narrow(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 1, %entry ], [ %next, %body ]
  %wide = sext i32 %i to i64
  %size = call i64 @_Z14get_local_sizej(i32 0) #0
  %more = icmp ugt i64 %size, %wide
  br i1 %more, label %body, label %end
body:
  store volatile i32 %i, ptr addrspace(1) %p
  %next = add nsw i32 %i, 1
  br label %loop
end:
  ret void
}

; What looks like a remainder, but was there before, stays as the program says.
; CHECK-LABEL: define spir_kernel void @own_remainder
; CHECK-COUNT-1: store volatile float
; CHECK-NOT: store
; CHECK: ret void
define spir_kernel void @own_remainder(ptr addrspace(1) %p, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %y.epil, label %end
y.epil:
  %i = phi i32 [ 0, %entry ], [ %next, %y.epil ]
  %x = sitofp i32 %i to float
  store volatile float %x, ptr addrspace(1) %p
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %y.epil, label %end, !llvm.loop !0
end:
  ret void
}

; Behind a loop with barriers there can be none for what is left over.
; CHECK-LABEL: define spir_kernel void @barriers
; CHECK-COUNT-1: call void @_Z7barrierj
; CHECK-NOT: barrier
; CHECK: ret void
define spir_kernel void @barriers(ptr addrspace(3) %p, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %i, ptr addrspace(3) %p
  call void @_Z7barrierj(i32 1) #1
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare void @_Z7barrierj(i32) #1

; A pointer counts, and the comparison is of what it was before the step.
; CHECK-LABEL: define spir_kernel void @walks
; CHECK: loop:
; CHECK-COUNT-8: store volatile float
; CHECK: br i1 {{.*}}, label %{{.*}}, label %loop
define spir_kernel void @walks(ptr addrspace(1) %p, ptr addrspace(1) %last) {
entry:
  br label %loop
loop:
  %q = phi ptr addrspace(1) [ %p, %entry ], [ %next, %loop ]
  store volatile float 1.0, ptr addrspace(1) %q
  %next = getelementptr inbounds float, ptr addrspace(1) %q, i64 1
  %done = icmp eq ptr addrspace(1) %q, %last
  br i1 %done, label %end, label %loop
end:
  ret void
}

attributes #1 = { convergent nounwind }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
