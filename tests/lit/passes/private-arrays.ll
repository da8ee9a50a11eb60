; Loops of a constant number of iterations whose counters index a private array become that many copies, and the array becomes
; variables.
; RUN: %heddle opt --passes=heddle-private-arrays %s | FileCheck %s

; A nest of two loops, and an index of a sum of both counters. LLVM has made copies of the outer one and wants no more.
; CHECK-LABEL: define spir_kernel void @nest
; CHECK-NOT: alloca
; CHECK-COUNT-8: store volatile float
; CHECK-NOT: store
; CHECK-NOT: br i1
; CHECK: ret void
define spir_kernel void @nest(ptr addrspace(1) %p, float %x) {
entry:
  %array = alloca [8 x float], align 4
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %row = shl i32 %i, 2
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %index = add i32 %row, %j
  %at = getelementptr [8 x float], ptr %array, i32 0, i32 %index
  store float %x, ptr %at
  %value = load float, ptr %at
  store volatile float %value, ptr addrspace(1) %p
  %j.next = add i32 %j, 1
  %j.more = icmp ult i32 %j.next, 4
  br i1 %j.more, label %inner, label %latch
latch:
  %i.next = add i32 %i, 1
  %done.1 = icmp eq i32 %i.next, 2
  br i1 %done.1, label %end, label %outer, !llvm.loop !0
end:
  ret void
}

; What the program says of a loop holds.
; CHECK-LABEL: define spir_kernel void @kept
; CHECK: alloca
; CHECK: br i1
define spir_kernel void @kept(ptr addrspace(1) %p, float %x) {
entry:
  %array = alloca [8 x float], align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [8 x float], ptr %array, i32 0, i32 %i
  store float %x, ptr %at
  %there = getelementptr [8 x float], ptr %array, i32 0, i32 1
  %value = load float, ptr %there
  store volatile float %value, ptr addrspace(1) %p
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 8
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}

; One access by something else, and the array stays, and with it the loop.
; CHECK-LABEL: define spir_kernel void @elsewhere
; CHECK: alloca
; CHECK: br i1
define spir_kernel void @elsewhere(ptr addrspace(1) %p, float %x, i32 %k) {
entry:
  %array = alloca [8 x float], align 4
  br label %loop
loop:
  %i = phi i32 [ 7, %entry ], [ %next, %loop ]
  %at = getelementptr [8 x float], ptr %array, i32 0, i32 %i
  store float %x, ptr %at
  %next = add i32 %i, -1
  %more = icmp sge i32 %next, 0
  br i1 %more, label %loop, label %end
end:
  %there = getelementptr [8 x float], ptr %array, i32 0, i32 %k
  %value = load float, ptr %there
  store volatile float %value, ptr addrspace(1) %p
  ret void
}

; Where LLVM has made copies that do not divide the iterations, the loop is left in its middle.
; CHECK-LABEL: define spir_kernel void @middle
; CHECK-NOT: alloca
; CHECK-COUNT-5: store volatile float
; CHECK-NOT: store
; CHECK-NOT: br i1
; CHECK: ret void
define spir_kernel void @middle(ptr addrspace(1) %p, float %x) {
entry:
  %array = alloca [6 x float], align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next.1, %more ]
  %at = getelementptr [6 x float], ptr %array, i32 0, i32 %i
  store float %x, ptr %at
  %value = load float, ptr %at
  store volatile float %value, ptr addrspace(1) %p
  %next = add i32 %i, 1
  %done.1.not = icmp eq i32 %i, 4
  br i1 %done.1.not, label %end, label %more
more:
  %at.1 = getelementptr [6 x float], ptr %array, i32 0, i32 %next
  store float %x, ptr %at.1
  %value.1 = load float, ptr %at.1
  store volatile float %value.1, ptr addrspace(1) %p
  %next.1 = add i32 %i, 2
  br label %loop, !llvm.loop !0
end:
  ret void
}

; Of arrays that the same loops index all become variables, or none: here they are too large together.
; CHECK-LABEL: define spir_kernel void @together
; CHECK-COUNT-2: alloca
; CHECK: br i1
define spir_kernel void @together(ptr addrspace(1) %p, float %x) {
entry:
  %small = alloca [4 x float], align 4
  %large = alloca [170 x i8], align 4
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr [4 x float], ptr %small, i32 0, i32 %i
  store float %x, ptr %at
  %there = getelementptr [170 x i8], ptr %large, i32 0, i32 %i
  store i8 1, ptr %there
  %first = load float, ptr %small
  %byte = load i8, ptr %large
  %word = sitofp i8 %byte to float
  %sum = fadd float %first, %word
  store volatile float %sum, ptr addrspace(1) %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %loop, label %end
end:
  ret void
}

; An array of more words than become variables stays.
; CHECK-LABEL: define spir_kernel void @large
; CHECK: alloca [200 x float]
; CHECK: br i1
define spir_kernel void @large(ptr addrspace(1) %p, float %x) {
entry:
  %large = alloca [200 x float], align 4
  br label %loop
loop:
  %i = phi i32 [ 3, %entry ], [ %next, %loop ]
  %at = getelementptr [200 x float], ptr %large, i32 0, i32 %i
  store float %x, ptr %at
  %there = getelementptr [200 x float], ptr %large, i32 0, i32 1
  %value = load float, ptr %there
  store volatile float %value, ptr addrspace(1) %p
  %next = add i32 %i, -1
  %more = icmp sgt i32 %next, -1
  br i1 %more, label %loop, label %end
end:
  ret void
}

; A loop that counts down to one, by twos, with the comparison before the step.
; CHECK-LABEL: define spir_kernel void @down
; CHECK-NOT: alloca
; CHECK-COUNT-4: store volatile float
; CHECK-NOT: store
; CHECK-NOT: br i1
; CHECK: ret void
define spir_kernel void @down(ptr addrspace(1) %p, float %x) {
entry:
  %array = alloca [8 x float], align 4
  br label %loop
loop:
  %i = phi i32 [ 7, %entry ], [ %next, %loop ]
  %at = getelementptr [8 x float], ptr %array, i32 0, i32 %i
  store float %x, ptr %at
  %value = load float, ptr %at
  store volatile float %value, ptr addrspace(1) %p
  %next = add i32 %i, -2
  %more = icmp sgt i32 %i, 2
  br i1 %more, label %loop, label %end
end:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
