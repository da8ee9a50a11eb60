; S2, S3: where divergence starts, and where it does not.
; RUN: %heddle opt --passes='print<uniformity>' --disable-output %s | FileCheck %s
; RUN: %heddle opt --passes='print<uniformity><rows-fill-warps=1>' --disable-output %s | FileCheck %s --check-prefix=ROWS

declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z12get_group_idj(i32)

; CHECK-LABEL: uniformity of 'sources':
; CHECK: uniform: %g = call
; CHECK: uniform: %gg = mul
; CHECK: conditionally uniform: %written = load
; CHECK: conditionally uniform: %derived = add
; CHECK: uniform: %constant = load
; CHECK: uniform: %restrict = load
; CHECK: varying (memory): %volatile = load
; CHECK: varying (atomic): %old = atomicrmw
; CHECK: varying (memory): %private = load
define spir_kernel void @sources(ptr addrspace(1) %p, ptr addrspace(4) %c, ptr addrspace(1) noalias readonly %r) {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %gg = mul i64 %g, 3
  %written = load i32, ptr addrspace(1) %p
  %derived = add i32 %written, 1
  %constant = load i32, ptr addrspace(4) %c
  %restrict = load i32, ptr addrspace(1) %r
  %volatile = load volatile i32, ptr addrspace(1) %p
  %old = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  %slot = alloca i32
  %private = load i32, ptr %slot
  ret void
}

; reqd_work_group_size makes ids of 1-wide dimensions uniform, ids after dimensions that fill whole warps, and the number of a warp.
; CHECK-LABEL: uniformity of 'required':
; CHECK: varying (work-item id): %x
; CHECK: uniform: %y
; CHECK: uniform: %z
; CHECK: uniform: %warp = lshr
; CHECK: varying (operand %x): %half = lshr
define spir_kernel void @required() !reqd_work_group_size !0 {
  %x = call i64 @_Z12get_local_idj(i32 0)
  %y = call i64 @_Z12get_local_idj(i32 1)
  %z = call i64 @_Z13get_global_idj(i32 2)
  %warp = lshr i64 %x, 5
  %half = lshr i64 %x, 4
  ret void
}
; Narrower rows share warps.
; CHECK-LABEL: uniformity of 'narrow':
; CHECK: varying (work-item id): %y
define spir_kernel void @narrow() !reqd_work_group_size !1 {
  %y = call i64 @_Z12get_local_idj(i32 1)
  ret void
}
declare i64 @_Z13get_global_idj(i32)
!0 = !{i32 64, i32 4, i32 1}
!1 = !{i32 16, i32 4, i32 1}

; S3: where launches promise that every warp lies in one row of its work-group, the other dimensions' ids are uniform, as is the
; number of a warp in its row.
; CHECK-LABEL: uniformity of 'rows':
; CHECK: varying (work-item id): %x
; CHECK: varying (work-item id): %y
; CHECK: varying (work-item id): %z
; CHECK: varying (operand %x): %warp = lshr
; CHECK: varying (work-item id): %any
; ROWS-LABEL: uniformity of 'rows':
; ROWS: varying (work-item id): %x
; ROWS: uniform: %y
; ROWS: uniform: %z
; ROWS: uniform: %warp = lshr
; ROWS: varying (operand %x): %half = lshr
; ROWS: varying (work-item id): %any
define spir_kernel void @rows(i32 %d) {
  %x = call i64 @_Z12get_local_idj(i32 0)
  %y = call i64 @_Z12get_local_idj(i32 1)
  %z = call i64 @_Z13get_global_idj(i32 2)
  %warp = lshr i64 %x, 5
  %half = lshr i64 %x, 4
  %any = call i64 @_Z12get_local_idj(i32 %d)
  ret void
}
