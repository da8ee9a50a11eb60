; S3: where divergence starts, and where it does not.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s

declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z12get_group_idj(i32)

; CHECK-LABEL: uniformity of 'sources':
; CHECK: uniform: %g = call
; CHECK: uniform: %gg = mul
; CHECK: varying (memory): %written = load
; CHECK: uniform: %constant = load
; CHECK: uniform: %restrict = load
; CHECK: varying (atomic): %old = atomicrmw
define spir_kernel void @sources(ptr addrspace(1) %p, ptr addrspace(4) %c, ptr addrspace(1) noalias readonly %r) {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %gg = mul i64 %g, 3
  %written = load i32, ptr addrspace(1) %p
  %constant = load i32, ptr addrspace(4) %c
  %restrict = load i32, ptr addrspace(1) %r
  %old = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  ret void
}

; reqd_work_group_size makes ids of 1-wide dimensions uniform.
; CHECK-LABEL: uniformity of 'required':
; CHECK: varying (work-item id): %x
; CHECK: uniform: %y
define spir_kernel void @required() !reqd_work_group_size !0 {
  %x = call i64 @_Z12get_local_idj(i32 0)
  %y = call i64 @_Z12get_local_idj(i32 1)
  ret void
}
!0 = !{i32 64, i32 1, i32 1}
