; Work-group id times size plus local id becomes one query (G8), however the sum is written; where it is not that id, it stays.
; RUN: %heddle opt --passes=relative-id %s -o - | FileCheck %s
target triple = "nvptx64--"
declare i64 @_Z12get_local_idj(i32) #0
declare i64 @_Z12get_group_idj(i32) #0
declare i64 @_Z14get_local_sizej(i32) #0
declare i64 @_Z23get_enqueued_local_sizej(i32) #0

; CHECK-LABEL: @wide(
; CHECK-NEXT: [[ID:%.*]] = call i64 @__heddle_relative_id(i32 0)
; CHECK-NEXT: ret i64 [[ID]]
define i64 @wide() {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %s = call i64 @_Z14get_local_sizej(i32 0)
  %l = call i64 @_Z12get_local_idj(i32 0)
  %m = mul i64 %g, %s
  %i = add i64 %m, %l
  ret i64 %i
}

; The other way round, in 32 bits, with a number between.
; CHECK-LABEL: @narrow(
; CHECK-NEXT: [[WIDE:%.*]] = call i64 @__heddle_relative_id(i32 1)
; CHECK-NEXT: [[ID:%.*]] = trunc i64 [[WIDE]] to i32
; CHECK-NEXT: [[SUM:%.*]] = add i32 [[ID]], %more
; CHECK-NEXT: ret i32 [[SUM]]
define i32 @narrow(i32 %more) {
  %g = call i64 @_Z12get_group_idj(i32 1)
  %s = call i64 @_Z14get_local_sizej(i32 1)
  %l = call i64 @_Z12get_local_idj(i32 1)
  %g32 = trunc i64 %g to i32
  %s32 = trunc i64 %s to i32
  %l32 = trunc i64 %l to i32
  %m = mul nsw i32 %s32, %g32
  %a = add i32 %more, %l32
  %i = add i32 %a, %m
  ret i32 %i
}

; The enqueued size gives the global id without its offset; where all work-groups have that size, the two are one.
; CHECK-LABEL: @enqueued(
; CHECK-NEXT: [[GLOBAL:%.*]] = call i64 @_Z13get_global_idj(i32 0)
; CHECK-NEXT: [[OFFSET:%.*]] = call i64 @_Z17get_global_offsetj(i32 0)
; CHECK-NEXT: [[ID:%.*]] = sub i64 [[GLOBAL]], [[OFFSET]]
; CHECK-NEXT: ret i64 [[ID]]
define i64 @enqueued() {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %s = call i64 @_Z23get_enqueued_local_sizej(i32 0)
  %l = call i64 @_Z12get_local_idj(i32 0)
  %m = mul i64 %g, %s
  %i = add i64 %m, %l
  ret i64 %i
}
; CHECK-LABEL: @whole(
; CHECK-NEXT: [[ID:%.*]] = call i64 @__heddle_relative_id(i32 0)
; CHECK-NEXT: ret i64 [[ID]]
define i64 @whole() #1 {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %s = call i64 @_Z23get_enqueued_local_sizej(i32 0)
  %l = call i64 @_Z12get_local_idj(i32 0)
  %m = mul i64 %g, %s
  %i = add i64 %m, %l
  ret i64 %i
}

; reqd_work_group_size says the size.
; CHECK-LABEL: @required(
; CHECK-NEXT: [[ID:%.*]] = call i64 @__heddle_relative_id(i32 0)
; CHECK-NEXT: ret i64 [[ID]]
define i64 @required() #1 !reqd_work_group_size !0 {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %l = call i64 @_Z12get_local_idj(i32 0)
  %m = shl i64 %g, 6
  %i = or disjoint i64 %m, %l
  ret i64 %i
}

; Another number, another dimension, or a sign-extended work-group id.
; CHECK-LABEL: @others(
; CHECK-NOT: relative_id
; CHECK: ret i64
define i64 @others() !reqd_work_group_size !0 {
  %g = call i64 @_Z12get_group_idj(i32 0)
  %s = call i64 @_Z14get_local_sizej(i32 0)
  %y = call i64 @_Z14get_local_sizej(i32 1)
  %l = call i64 @_Z12get_local_idj(i32 0)
  %g32 = trunc i64 %g to i32
  %signed = sext i32 %g32 to i64
  %a = mul i64 %g, 32
  %i = add i64 %a, %l
  %b = mul i64 %g, %y
  %j = add i64 %b, %l
  %c = mul i64 %signed, %s
  %k = add i64 %c, %l
  %ij = xor i64 %i, %j
  %ijk = xor i64 %ij, %k
  ret i64 %ijk
}

attributes #0 = { nounwind willreturn memory(none) }
attributes #1 = { "uniform-work-group-size"="true" }
!0 = !{i32 64, i32 1, i32 1}
