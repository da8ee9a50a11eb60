; Ranges of queries as the pass attaches them: a dimension that is no constant, one that there is not, and the parameter.
; RUN: %heddle opt --passes='id-ranges' %s | FileCheck %s
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
; CHECK-DAG: ![[LOCAL]] = !{i64 0, i64 1024}
; CHECK-DAG: ![[NONE]] = !{i64 0, i64 1}
; CHECK-DAG: ![[WORD]] = !{i64 0, i64 4294967296}
; CHECK-DAG: ![[SIZE]] = !{i64 1, i64 1025}
; CHECK-DAG: ![[LANE]] = !{i32 0, i32 32}
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
