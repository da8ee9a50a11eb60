; K7: streams go first, what all lanes read alike and nobody writes comes through the uniform cache, volatile accesses go to memory.
; RUN: %heddle opt --passes='print<cache-hints>' --disable-output %s | FileCheck %s
; RUN: %heddle opt --passes=cache-hints %s | FileCheck %s --check-prefix=METADATA

declare i64 @_Z13get_global_idj(i32)

; CHECK-LABEL: cache hints of k:
; CHECK-NEXT: %in: load cs, touched once
; CHECK-NEXT: %factor: load ca, same address in all lanes, read-only
; CHECK-NEXT: %flag: load cv, volatile
; CHECK-NEXT: %out: store wb, written for others to read
; METADATA: %x = load {{.*}}, !heddle.cache [[STREAM:![0-9]+]]
; METADATA: %f = load {{.*}}, !heddle.cache [[UNIFORM:![0-9]+]]
; METADATA: %v = load volatile {{.*}}, !heddle.cache [[VOLATILE:![0-9]+]]
; METADATA: store {{.*}}, !heddle.cache [[STORE:![0-9]+]]
; METADATA-DAG: [[STREAM]] = !{!"cs", !"touched once"}
; METADATA-DAG: [[UNIFORM]] = !{!"ca", !"same address in all lanes, read-only, and the data L1 has room"}
; METADATA-DAG: [[VOLATILE]] = !{!"cv", !"volatile"}
; METADATA-DAG: [[STORE]] = !{!"wb", !"written for others to read"}
define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(4) %factor, ptr addrspace(1) %flag, ptr addrspace(1) noalias %out,
                           ptr addrspace(3) %local) {
  %id = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr i32, ptr addrspace(1) %in, i64 %id
  %x = load i32, ptr addrspace(1) %p
  %f = load i32, ptr addrspace(4) %factor
  %y = mul i32 %x, %f
  %v = load volatile i32, ptr addrspace(1) %flag
  store i32 %v, ptr addrspace(3) %local
  %o = getelementptr i32, ptr addrspace(1) %out, i64 %id
  store i32 %y, ptr addrspace(1) %o
  ret void
}
