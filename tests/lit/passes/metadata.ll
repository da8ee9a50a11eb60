; --passes=uniformity attaches the verdicts as metadata that survives a round trip through text, also through LLVM's own opt.
; RUN: %heddle opt --passes=uniformity %s | %heddle opt --passes=verify - | FileCheck %s
; RUN: %heddle opt --passes=uniformity %s | opt -S | FileCheck %s

declare i64 @_Z12get_local_idj(i32)

; CHECK: %id = call {{.*}} !heddle.uniformity ![[V:[0-9]+]]
; CHECK: %x = add {{.*}} !heddle.uniformity ![[U:[0-9]+]]
; CHECK: br i1 %c, {{.*}} !heddle.uniformity ![[V]]
; CHECK: %y = mul {{.*}} !heddle.uniformity ![[C:[0-9]+]]
; CHECK-DAG: ![[V]] = !{!"varying"}
; CHECK-DAG: ![[U]] = !{!"uniform"}
; CHECK-DAG: ![[C]] = !{!"conditionally uniform"}
define spir_kernel void @k(i32 %n, ptr addrspace(1) %p) {
  %id = call i64 @_Z12get_local_idj(i32 0)
  %x = add i32 %n, 1
  %c = icmp eq i64 %id, 0
  br i1 %c, label %then, label %done
then:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %p
  br label %done
done:
  ret void
}
