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

declare i64 @_Z20get_global_linear_idv()
declare i64 @__heddle_relative_id(i32)
declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z12get_group_idj(i32)

; The linear id is affine in all ids. Group id times the group's own size plus local id, and local ids with what the work-group has in common, have strides
; of their own.
; CHECK-LABEL: global-id addresses of other_ids:
; CHECK-NEXT: t0: %a, typed buffer, strides (4, 4*gsize.x, 4*gsize.x*gsize.y), base -4*gsize.x*gsize.y*goffset.z + -4*gsize.x*goffset.y + -4*goffset.x
; CHECK-NEXT: t1: %a, typed buffer, strides (4, 0, 0) of relative ids, base 0
; CHECK-NEXT: t2: %b, typed UAV, strides (4, 0, 0) of local ids, base 0
; CHECK-NEXT: t0(0, 0, 0): %x = load i32
; CHECK-NEXT: t1(0, 0, 0): %y = load i32
; CHECK-NEXT: t2(0, 0, 0) + 128*group.x: store i32 %s
define spir_kernel void @other_ids(ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %linear = call i64 @_Z20get_global_linear_idv()
  %p = getelementptr i32, ptr addrspace(1) %a, i64 %linear
  %x = load i32, ptr addrspace(1) %p
  %relative = call i64 @__heddle_relative_id(i32 0)
  %q = getelementptr i32, ptr addrspace(1) %a, i64 %relative
  %y = load i32, ptr addrspace(1) %q
  %s = add i32 %x, %y
  %local = call i64 @_Z12get_local_idj(i32 0)
  %group = call i64 @_Z12get_group_idj(i32 0)
  %tile = mul i64 %group, 32
  %place = add i64 %tile, %local
  %r = getelementptr i32, ptr addrspace(1) %b, i64 %place
  store i32 %s, ptr addrspace(1) %r
  ret void
}

; What is left to add costs more than the program's own arithmetic, whose index is needed anyway.
; CHECK-LABEL: global-id addresses of costly:
; CHECK: kept, its own arithmetic costs less: %x = load i32
; CHECK: kept, all work-items access the same place: store i32 %r
define spir_kernel void @costly(ptr addrspace(1) %a, ptr addrspace(1) %b, i64 %n) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %g = call i64 @_Z12get_group_idj(i32 1)
  %m = mul i64 %g, %n
  %k = mul i64 %m, %g
  %j = add i64 %k, %i
  %p = getelementptr i8, ptr addrspace(1) %a, i64 %j
  %x = load i32, ptr addrspace(1) %p
  %low = trunc i64 %j to i32
  %r = add i32 %x, %low
  store i32 %r, ptr addrspace(1) %b
  ret void
}
