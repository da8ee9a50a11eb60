; Global-ID addresses in LLVM's own opt: printed, and as metadata that says the same.
; RUN: opt -load-pass-plugin=%plugin -passes='print<heddle-global-id>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PRINTED
; RUN: opt -load-pass-plugin=%plugin -passes=heddle-global-id -S %s | FileCheck %s

declare i64 @_Z13get_global_idj(i32)

; PRINTED-LABEL: global-id addresses of k:
; PRINTED-NEXT:   t0: %p, {{.*}}, strides (8, 0, 0), base 0
; PRINTED-NEXT:   t0(-1, 0, 0): %a = load i64
; PRINTED-NEXT:   kept, all work-items access the same place: %b = load i64

; CHECK: define spir_kernel void @k({{.*}}) !heddle.views [[VIEWS:![0-9]+]]
; CHECK: %a = load i64, {{.*}}, !heddle.global-id [[A:![0-9]+]]
; CHECK: %b = load i64, {{.*}}, !heddle.global-id [[B:![0-9]+]]
; CHECK-DAG: [[VIEWS]] = !{[[P:![0-9]+]]}
; CHECK-DAG: [[P]] = !{!"arg0", !"{{.*}}", !"8", !"0", !"0", !"0"}
; CHECK-DAG: [[A]] = !{!"t0(-1, 0, 0)"}
; CHECK-DAG: [[B]] = !{!"kept", !"all work-items access the same place"}
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %q) {
  %x = call i64 @_Z13get_global_idj(i32 0)
  %left = add i64 %x, -1
  %at = getelementptr i64, ptr addrspace(1) %p, i64 %left
  %a = load i64, ptr addrspace(1) %at
  %b = load i64, ptr addrspace(1) %p
  %s = add i64 %a, %b
  store i64 %s, ptr addrspace(3) %q
  ret void
}
