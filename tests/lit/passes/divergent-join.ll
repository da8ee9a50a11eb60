; S3: a phi where lanes meet that a divergent branch separated is varying even though both inputs are uniform.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK-LABEL: uniformity of 'join':
; CHECK: varying (work-item id): %id
; CHECK: divergent branch: br i1 %c
; CHECK: block left:
; CHECK-NEXT: conditionally uniform: %x = add i32 %n, 1
; CHECK: varying (join of the divergent branch in entry): %v = phi
; CHECK: uniform: %same = phi
define spir_kernel void @join(i32 %n, ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %c = icmp eq i64 %id, 0
  br i1 %c, label %left, label %right
left:
  %x = add i32 %n, 1
  br label %meet
right:
  br label %meet
meet:
  %v = phi i32 [ %x, %left ], [ 7, %right ]
  %same = phi i32 [ %n, %left ], [ %n, %right ]
  store i32 %v, ptr addrspace(1) %p
  store i32 %same, ptr addrspace(1) %p
  ret void
}

; A uniform branch separates no lanes: the mask is the whole mask.
; CHECK-LABEL: uniformity of 'uniform_branch':
; CHECK: uniform branch: br i1 %c
; CHECK: uniform: %v = phi
define spir_kernel void @uniform_branch(i32 %n, ptr addrspace(1) %p) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %left, label %meet
left:
  %x = add i32 %n, 1
  br label %meet
meet:
  %v = phi i32 [ %x, %left ], [ 7, %entry ]
  store i32 %v, ptr addrspace(1) %p
  ret void
}
