; Cache policies in LLVM's own opt: printed, and as metadata.
; RUN: opt -load-pass-plugin=%plugin -passes='print<heddle-cache-hints>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PRINTED
; RUN: opt -load-pass-plugin=%plugin -passes=heddle-cache-hints -S %s | FileCheck %s
; heddle-prepare inlines, and the others then see through the call.
; RUN: opt -load-pass-plugin=%plugin -passes='heddle-prepare,print<heddle-cache-hints>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=INLINED

declare i64 @_Z13get_global_idj(i32)

; PRINTED-LABEL: cache hints of k:
; PRINTED-NEXT:   %c: load cg, other work-groups may write it
; PRINTED-NEXT:   %b: store wb, address is not affine
; INLINED-LABEL: cache hints of k:
; INLINED-NEXT:   %c: load ca, same address in all lanes, read-only
; INLINED-NEXT:   %b: store wb, written for others to read

; CHECK-LABEL: define spir_kernel void @k
; CHECK: load i32, {{.*}}, !heddle.cache [[CG:![0-9]+]]
; CHECK: store i32 {{.*}}, !heddle.cache [[WB:![0-9]+]]
; CHECK-DAG: [[CG]] = !{!"cg", !"other work-groups may write it"}
; CHECK-DAG: [[WB]] = !{!"wb", !"address is not affine"}
define spir_kernel void @k(ptr addrspace(1) %c, ptr addrspace(1) noalias %b) {
  %x = call i64 @_Z13get_global_idj(i32 0)
  %i = call i64 @mine(i64 %x)
  %v = load i32, ptr addrspace(1) %c
  %at = getelementptr i32, ptr addrspace(1) %b, i64 %i
  store i32 %v, ptr addrspace(1) %at
  ret void
}

define internal i64 @mine(i64 %x) alwaysinline {
  %i = add i64 %x, 1
  ret i64 %i
}
