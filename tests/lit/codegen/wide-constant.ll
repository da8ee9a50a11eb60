; A vector kept in a loop as one integer of 256 bits, with constants of that type. Found by a random program.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s
; RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefix=LOW
; RUN: %heddle build %s --emit asm -o - | FileCheck %s --check-prefix=ONES
; CHECK: mov.b64 [[HIGH:s\[[0-9]+:[0-9]+\]]], -1
; CHECK: st.global.b32 {{.*}} + 64]
; LOW: mov.b32 {{.*}}, -2
; ONES-COUNT-7: mov.b32 {{.*}}, -1
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %a, i1 %c) {
entry:
  %old = load i256, ptr addrspace(1) %a, align 32
  br i1 %c, label %set, label %end
set:
  br label %end
end:
  %v = phi i256 [ %old, %entry ], [ -1, %set ]
  %high = lshr i256 %v, 224
  %word = trunc i256 %high to i32
  %b = getelementptr i8, ptr addrspace(1) %a, i64 64
  store i32 %word, ptr addrspace(1) %b
  store i256 -2, ptr addrspace(1) %a, align 32
  ret void
}
