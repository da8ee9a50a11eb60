; The uniformity analysis in LLVM's own opt: printed, and as metadata.
; RUN: opt -load-pass-plugin=%plugin -passes='print<heddle-uniformity>' -disable-output %s 2>&1 | FileCheck %s --check-prefixes=PRINTED,WARP32
; RUN: opt -load-pass-plugin=%plugin -passes='print<heddle-uniformity><warp-size=64>' -disable-output %s 2>&1 | FileCheck %s --check-prefixes=PRINTED,WARP64
; RUN: opt -load-pass-plugin=%plugin -passes=heddle-uniformity -S %s | FileCheck %s
; With passes of LLVM's before and after it: dead code goes first, what is left is annotated, the module verifies.
; RUN: opt -load-pass-plugin=%plugin -passes='function(dce),heddle-uniformity,verify' -S %s | FileCheck %s --implicit-check-not=%%dead
; The pipeline's text says the pass as it was given.
; RUN: opt -load-pass-plugin=%plugin -passes='heddle-uniformity<warp-size=64>,print<heddle-uniformity>' -print-pipeline-passes -disable-output %s | FileCheck %s --check-prefix=TEXT
; TEXT: heddle-uniformity<warp-size=64>,print<heddle-uniformity>

declare i64 @_Z12get_local_idj(i32)

; PRINTED-LABEL: uniformity of 'k':
; PRINTED: block entry:
; PRINTED-NEXT:   varying (work-item id): %id = call i64 @_Z12get_local_idj(i32 0)
; WARP32-NEXT:    uniform: %warp = lshr i64 %id, 5
; WARP64-NEXT:    varying (operand %id): %warp = lshr i64 %id, 5
; PRINTED:        uniform: %x = add i32 %n, 1
; PRINTED:        divergent branch: br i1 %c, label %then, label %done
; PRINTED-NEXT: block then:
; PRINTED-NEXT:   conditionally uniform: %y = mul i32 %x, 3

; CHECK-LABEL: define spir_kernel void @k
; CHECK: %id = call {{.*}} !heddle.uniformity ![[V:[0-9]+]]
; CHECK: %warp = lshr {{.*}} !heddle.uniformity ![[U:[0-9]+]]
; CHECK: %x = add {{.*}} !heddle.uniformity ![[U]]
; CHECK: br i1 %c, {{.*}} !heddle.uniformity ![[V]]
; CHECK: %y = mul {{.*}} !heddle.uniformity ![[C:[0-9]+]]
; CHECK-DAG: ![[V]] = !{!"varying"}
; CHECK-DAG: ![[U]] = !{!"uniform"}
; CHECK-DAG: ![[C]] = !{!"conditionally uniform"}
define spir_kernel void @k(i32 %n, ptr addrspace(1) %p, ptr addrspace(1) %q) !reqd_work_group_size !0 {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %warp = lshr i64 %id, 5
  %dead = mul i64 %warp, 7
  %x = add i32 %n, 1
  %c = icmp eq i64 %id, 0
  store i64 %warp, ptr addrspace(1) %q
  br i1 %c, label %then, label %done
then:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %p
  br label %done
done:
  ret void
}

!0 = !{i32 128, i32 1, i32 1}
