; A call of printf reserves room with one atomic addition, and writes its message if it fits. Formats go into the module's metadata.
; RUN: %heddle opt --passes=printf %s | FileCheck %s
; RUN: %heddle opt --passes=printf,verify --disable-output %s

@format = private unnamed_addr addrspace(4) constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr addrspace(4), ...)

; CHECK: @heddle.printf.buffer = external addrspace(1) global i8, align 16
; CHECK-LABEL: define spir_kernel void @prints
; CHECK-NOT: @printf
; CHECK: [[START:%.*]] = atomicrmw add ptr addrspace(1) @heddle.printf.buffer, i64 8 monotonic
; CHECK: call i32 @__heddle_printf_room()
; CHECK: br i1 {{.*}}, label %[[WRITE:.*]], label %[[FULL:.*]]
; CHECK: [[WRITE]]:
; CHECK: store i32 %n, {{.*}}, !nontemporal
; CHECK: store i32 1, {{.*}}, align 8, !nontemporal
; CHECK: [[FULL]]:
; CHECK: atomicrmw add {{.*}} i64 8), i64 1 monotonic
define spir_kernel void @prints(i32 %n) {
  %1 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) @format, i32 %n)
  ret void
}

; CHECK-LABEL: define spir_kernel void @silent
; CHECK-NEXT: store i32 1
; CHECK-NEXT: ret void
define spir_kernel void @silent(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}

; CHECK: !heddle.printf = !{[[FORMAT:![0-9]+]]}
; CHECK: [[FORMAT]] = !{!"%d\0A", !"i32"}
