; Loops that clang leaves, because only a launch knows how often they go round, become several copies: more of them where all lanes of a
; warp leave together. What is left over is a loop behind it, of two copies in the first case.
; RUN: %heddle opt --passes=heddle-unroll %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)
declare i32 @_Z18get_sub_group_sizev()

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
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
