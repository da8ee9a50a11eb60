; G5-G7 as metadata: views of the kernel, view and distance of an access, or why it keeps its arithmetic.
; RUN: %heddle opt --passes=global-id %s | FileCheck %s
; RUN: %heddle opt --passes=global-id %s | %heddle opt --passes=verify --disable-output -

declare i64 @_Z13get_global_idj(i32)

; CHECK: define spir_kernel void @k({{.*}}) !heddle.views [[VIEWS:![0-9]+]]
; CHECK: %a = load i32, {{.*}}, !heddle.global-id [[A:![0-9]+]]
; CHECK: %b = load i32, {{.*}}, !heddle.global-id [[B:![0-9]+]]
; CHECK: %c = load i32, {{.*}}, !heddle.global-id [[C:![0-9]+]]
; CHECK: %l = load i32, ptr addrspace(3) %local, align 4{{$}}
; CHECK: store i32 {{.*}}, !heddle.global-id [[STORE:![0-9]+]]
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %pitch, ptr addrspace(3) %local) {
  %x = call i64 @_Z13get_global_idj(i32 0)
  %y = call i64 @_Z13get_global_idj(i32 1)
  %wide = zext i32 %pitch to i64
  %row = mul i64 %y, %wide
  %at = add i64 %row, %x
  %place = getelementptr i32, ptr addrspace(1) %p, i64 %at
  %a = load i32, ptr addrspace(1) %place, align 4
  %b = load i32, ptr addrspace(1) %p, align 4
  %index = sext i32 %a to i64
  %gathered = getelementptr i32, ptr addrspace(1) %p, i64 %index
  %c = load i32, ptr addrspace(1) %gathered, align 4
  %l = load i32, ptr addrspace(3) %local, align 4
  %next = add i64 %x, 2
  %out = getelementptr i32, ptr addrspace(1) %q, i64 %next
  store i32 %c, ptr addrspace(1) %out, align 4
  ret void
}

; Where nothing is of a view there are none.
; CHECK: define spir_kernel void @none(ptr addrspace(1) %p) {
define spir_kernel void @none(ptr addrspace(1) %p) {
  store i32 0, ptr addrspace(1) %p
  ret void
}

; CHECK-DAG: [[VIEWS]] = !{[[P:![0-9]+]], [[Q:![0-9]+]]}
; CHECK-DAG: [[P]] = !{!"arg0", !"{{.*}}", !"4", !"4*arg2", !"0", !"0"}
; CHECK-DAG: [[Q]] = !{!"arg1", !"{{.*}}", !"4", !"0", !"0", !"0"}
; CHECK-DAG: [[A]] = !{!"t0(0, 0, 0)"}
; CHECK-DAG: [[B]] = !{!"kept", !"all work-items access the same place"}
; CHECK-DAG: [[C]] = !{!"kept", !"the index depends on `%a = load i32, ptr addrspace(1) %place, align 4`"}
; CHECK-DAG: [[STORE]] = !{!"t1(2, 0, 0)"}
