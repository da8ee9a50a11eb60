; Ranges of queries as the pass attaches them, and the mark of kernels with signs of ids: a dimension that is no constant, one that there is not, and the parameter.
; RUN: %heddle opt --passes='id-ranges' %s | FileCheck %s
; RUN: %heddle opt --passes='id-ranges<short-ids=0>' %s | FileCheck %s --check-prefix=WIDE
; RUN: %heddle opt --passes='id-ranges<max-work-group-size=64;warp-size=16>' %s | FileCheck %s --check-prefix=SMALL

declare i64 @_Z12get_local_idj(i32)
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z14get_local_sizej(i32)
declare i32 @__heddle_lane()

; CHECK-LABEL: define spir_kernel void @k
; CHECK: %any = call {{.*}} !range ![[LOCAL:[0-9]+]]
; CHECK: %none = call {{.*}} !range ![[NONE:[0-9]+]]
; CHECK: %global = call {{.*}} !range ![[WORD:[0-9]+]]
; CHECK: %size = call {{.*}} !range ![[SIZE:[0-9]+]]
; CHECK: %lane = call {{.*}} !range ![[LANE:[0-9]+]]
; SMALL-DAG: !{i64 0, i64 64}
; SMALL-DAG: !{i64 1, i64 65}
; SMALL-DAG: !{i32 0, i32 16}
define spir_kernel void @k(ptr addrspace(1) %p, i32 %d) {
  %any = call i64 @_Z12get_local_idj(i32 %d)
  %none = call i64 @_Z12get_local_idj(i32 3)
  %global = call i64 @_Z13get_global_idj(i32 0)
  %size = call i64 @_Z14get_local_sizej(i32 0)
  %lane = call i32 @__heddle_lane()
  ret void
}

; The id is not negative as a signed integer of 32 bits.
; CHECK-LABEL: define spir_kernel void @signs
; CHECK-SAME: #[[SHORT:[0-9]+]]
; CHECK: %id = call {{.*}} !range ![[HALF:[0-9]+]]
; WIDE-LABEL: define spir_kernel void @signs
; WIDE-NOT: heddle-short-ids
; WIDE: %id = call {{.*}} !range ![[ALL:[0-9]+]]
; WIDE-DAG: ![[ALL]] = !{i64 0, i64 4294967296}
define spir_kernel void @signs(ptr addrspace(1) %p) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %low = trunc i64 %id to i32
  %next = add i32 %low, 1
  %inside = icmp slt i32 %next, 100
  store i1 %inside, ptr addrspace(1) %p
  ret void
}

; Signs of something else, and of the whole id.
; CHECK-LABEL: define spir_kernel void @no_signs
; CHECK-NOT: #[[SHORT]]
; CHECK: %id = call {{.*}} !range ![[WORD]]
; CHECK: attributes #[[SHORT]] = { "heddle-short-ids"="true" }
; CHECK-DAG: ![[LOCAL]] = !{i64 0, i64 1024}
; CHECK-DAG: ![[NONE]] = !{i64 0, i64 1}
; CHECK-DAG: ![[WORD]] = !{i64 0, i64 4294967296}
; CHECK-DAG: ![[SIZE]] = !{i64 1, i64 1025}
; CHECK-DAG: ![[LANE]] = !{i32 0, i32 32}
; CHECK-DAG: ![[HALF]] = !{i64 0, i64 2147483648}
define spir_kernel void @no_signs(ptr addrspace(1) %p, i32 %n) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %low = trunc i64 %id to i32
  %inside = icmp ult i32 %low, %n
  %wide = icmp slt i64 %id, 100
  %other = icmp slt i32 %n, 5
  %a = and i1 %inside, %other
  %b = and i1 %a, %wide
  store i1 %b, ptr addrspace(1) %p
  ret void
}
