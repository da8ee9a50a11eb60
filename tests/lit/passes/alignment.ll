; An access to a variable has the alignment that the variable's allows, even where LLVM has forgotten it, as it does when
; it moves stores out of loops; a pointer of which nothing is known keeps what the access says.
; RUN: %heddle opt --passes=heddle-prepare %s | FileCheck %s
; RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefix=ASM

; CHECK: store i32 %n, ptr %second, align 4
; CHECK: load <2 x i32>, ptr %second, align 4
; CHECK: store <2 x i32> %pair, ptr addrspace(1) %p, align 1
; ASM-NOT: private.u8
; ASM-COUNT-8: st.global.u8
; ASM: exit
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
  %a = alloca [8 x i32], align 4
  %second = getelementptr inbounds i8, ptr %a, i64 4
  store i32 %n, ptr %second, align 1
  %at = and i32 %n, 3
  %element = getelementptr inbounds [8 x i32], ptr %a, i32 0, i32 %at
  store i32 %n, ptr %element, align 4
  %pair = load <2 x i32>, ptr %second, align 1
  store <2 x i32> %pair, ptr addrspace(1) %p, align 1
  ret void
}
