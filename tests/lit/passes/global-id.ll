; G5-G8: an access whose offset is affine in the global ids has a view and distances; others keep their arithmetic, with the reason.
; RUN: %heddle opt --passes='print<global-id>' --disable-output %s | FileCheck %s

declare i64 @_Z13get_global_idj(i32)

; CHECK-LABEL: global-id addresses of k:
; CHECK-NEXT: t0: %a, typed buffer, strides (4, 4*arg2, 0), base 0
; CHECK-NEXT: t0(1, 0, 0): %x = load i32
; CHECK-NEXT: kept, the pitch `4*gid.x*gid.x` is not known at launch: %y = load i32
; CHECK-NEXT: kept, all work-items access the same place: store i32 %x
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %pitch) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %j = call i64 @_Z13get_global_idj(i32 1)
  %wide = sext i32 %pitch to i64
  %row = mul i64 %j, %wide
  %right = add i64 %i, 1
  %at = add i64 %row, %right
  %p = getelementptr i32, ptr addrspace(1) %a, i64 %at
  %x = load i32, ptr addrspace(1) %p
  %square = mul i64 %i, %i
  %q = getelementptr i32, ptr addrspace(1) %a, i64 %square
  %y = load i32, ptr addrspace(1) %q
  store i32 %x, ptr addrspace(1) %b
  ret void
}
