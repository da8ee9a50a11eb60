; What a phi has from a block that gives it nothing costs nothing there: no copy, and no zero anywhere. (Which words of it are needed is asked, too.)
; RUN: %heddle build %s --stop-after select -o - | FileCheck %s --check-prefix=SELECT
; RUN: %heddle build %s --emit asm -o - | FileCheck %s

; SELECT: undef.b64
; CHECK: cmp.lt.u64
; CHECK-NEXT: brad
; CHECK-NEXT: ld.global.b32
; CHECK-NEXT: ld.global.b32
; CHECK-NEXT: L
; CHECK-NEXT: st.global.b32
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {
entry:
  %id = call i64 @_Z13get_global_idj(i32 0)
  %c = icmp ult i64 %id, 7
  %from = getelementptr i64, ptr addrspace(1) %p, i64 %id
  %to = getelementptr i64, ptr addrspace(1) %q, i64 %id
  br i1 %c, label %some, label %end
some:
  %v = load volatile i64, ptr addrspace(1) %from
  br label %end
end:
  %x = phi i64 [ %v, %some ], [ poison, %entry ]
  store i64 %x, ptr addrspace(1) %to
  ret void
}

declare i64 @_Z13get_global_idj(i32)
