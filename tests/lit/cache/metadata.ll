; K7: the decisions as metadata; accesses that only IR can spell.
; RUN: %heddle opt %s --passes='heddle-prepare,cache-hints' | FileCheck %s
; RUN: %heddle opt %s --passes='heddle-prepare,print<cache-hints>' --disable-output | FileCheck %s --check-prefix=PRINTED

declare i64 @_Z13get_global_idj(i32)

; Atomic loads and stores; then even what another argument may alias is of the moment.
; PRINTED-LABEL: cache hints of atomics:
; PRINTED-NEXT: %p: load cv, atomic
; PRINTED-NEXT: %q: load cg, other work-groups may write it
; PRINTED-NEXT: %p: store wt, atomic
; CHECK-LABEL: @atomics
; CHECK: load atomic {{.*}}, !heddle.cache [[CV:![0-9]+]]
; CHECK: load i32, {{.*}}, !heddle.cache [[CG:![0-9]+]]
; CHECK: store atomic {{.*}}, !heddle.cache [[WT:![0-9]+]]
define spir_kernel void @atomics(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %a = load atomic i32, ptr addrspace(1) %p acquire, align 4
  %b = load i32, ptr addrspace(1) %q
  store atomic i32 %b, ptr addrspace(1) %p release, align 4
  ret void
}

; Local and private memory have no policy.
; PRINTED-LABEL: cache hints of spaces:
; PRINTED-NEXT: %p: store wb, written for others to read
; PRINTED-NOT: load
; CHECK-LABEL: @spaces
; CHECK-NOT: load {{.*}}!heddle.cache
; CHECK: store {{.*}}, !heddle.cache [[CS:![0-9]+]]
define spir_kernel void @spaces(ptr addrspace(1) %p, ptr addrspace(3) %l) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %a = load i32, ptr addrspace(3) %l
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
  store i32 %a, ptr addrspace(1) %at
  ret void
}

; A pointer that was loaded may point anywhere.
; PRINTED-LABEL: cache hints of loaded:
; PRINTED-NEXT: %p: load ca, same address in all lanes, read-only
; PRINTED-NEXT: unknown: store wb, the pointer's surface is not known
; PRINTED-NEXT: %p: load ca, same address in all lanes, but the kernel may write it
define spir_kernel void @loaded(ptr addrspace(1) %p, ptr addrspace(3) %l) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %q = load ptr addrspace(1), ptr addrspace(1) %p
  %at = getelementptr i32, ptr addrspace(1) %q, i64 %i
  store i32 1, ptr addrspace(1) %at
  %again = load i32, ptr addrspace(1) %p
  store i32 %again, ptr addrspace(3) %l
  ret void
}

; A fence of LLVM's.
; PRINTED-LABEL: cache hints of fenced:
; PRINTED-NEXT: %p: load cg, other work-groups may write it
define spir_kernel void @fenced(ptr addrspace(1) %p) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %i
  fence acquire
  %a = load i32, ptr addrspace(1) %at
  store i32 %a, ptr addrspace(1) %p
  ret void
}

; A counter that advances by what the loop computes is no constant step.
; PRINTED-LABEL: cache hints of doubling:
; PRINTED-NEXT: %p: load ca, address is not affine
define spir_kernel void @doubling(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %n) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  %low = trunc i64 %i to i32
  br label %loop
loop:
  %k = phi i32 [ 1, %entry ], [ %next, %loop ]
  %sum = add i32 %k, %low
  %at = getelementptr i32, ptr addrspace(1) %p, i32 %sum
  %a = load i32, ptr addrspace(1) %at
  store i32 %a, ptr addrspace(3) %l
  %next = add i32 %k, %k
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-DAG: [[CV]] = !{!"cv", !"atomic"}
; CHECK-DAG: [[CG]] = !{!"cg", !"other work-groups may write it"}
; CHECK-DAG: [[WT]] = !{!"wt", !"atomic"}
; CHECK-DAG: [[CS]] = !{!"wb", !"written for others to read"}
