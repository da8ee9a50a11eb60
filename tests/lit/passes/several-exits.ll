; Loops that are left in their middle, too, have copies in front of them that do not count.
; RUN: %heddle opt --passes=heddle-unroll %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)
declare i64 @__heddle_ballot(i32)

; A counter that is compared for being equal goes up to a multiple of the copies. Each copy has its way out.
; CHECK-LABEL: define spir_kernel void @escape
; CHECK: %[[N:.*]] = freeze i32 %n
; CHECK: %[[LAST:.*]] = and i32 %[[N]], -4
; CHECK: %[[ENOUGH:.*]] = icmp ugt i32 %[[N]], 3
; CHECK: br i1 %[[ENOUGH]], label %copies, label %rest
; CHECK: out:
; CHECK: copies:
; CHECK-COUNT-4: fcmp
; CHECK-NOT: fcmp
; CHECK: %[[NEXT:.*]] = add nuw nsw i32 %{{.*}}, 4
; CHECK: %[[END:.*]] = icmp eq i32 %[[NEXT]], %[[LAST]]
; CHECK: br i1 %[[END]], label %copies.exit, label %copies
define spir_kernel void @escape(ptr addrspace(1) %p, i32 %n) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %start = uitofp i64 %id to float
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %x = phi float [ %start, %entry ], [ %y, %latch ]
  %far = fcmp ogt float %x, 4.0
  br i1 %far, label %out, label %latch
latch:
  %y = fmul float %x, %x
  %next = add nuw nsw i32 %i, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %out, label %loop
out:
  %count = phi i32 [ %i, %loop ], [ %n, %latch ]
  store i32 %count, ptr addrspace(1) %p
  ret void
}

; Lanes of which some may have left do not meet again between copies, so what asks for the lanes that are here stays.
; CHECK-LABEL: define spir_kernel void @asks
; CHECK-NOT: copies
; CHECK: ret void
define spir_kernel void @asks(ptr addrspace(1) %p, i32 %n) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %start = uitofp i64 %id to float
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %x = phi float [ %start, %entry ], [ %y, %latch ]
  %far = fcmp ogt float %x, 4.0
  br i1 %far, label %out, label %latch
latch:
  %here = call i64 @__heddle_ballot(i32 1)
  store volatile i64 %here, ptr addrspace(1) %p
  %y = fmul float %x, %x
  %next = add nuw nsw i32 %i, 1
  %end = icmp eq i32 %next, %n
  br i1 %end, label %out, label %loop
out:
  ret void
}
