; Copies of a variable that nothing is written to (the padding of structures, after LLVM has split them) are left out: checking mode would
; report the read. Found by random programs.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s
; CHECK-NOT: ld.private
; CHECK: st.private{{.*}}
; CHECK: ld.private{{.*}}
; CHECK-NOT: ld.private
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %a, i32 %i, i1 %c) {
  %padding = alloca [7 x i8], align 1
  %other = alloca [7 x i8], align 1
  %s = alloca [16 x i8], align 8
  %tail = getelementptr i8, ptr %s, i64 1
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %tail, ptr align 1 %padding, i64 7, i1 false)
  br i1 %c, label %back, label %on
back:
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %other, ptr align 1 %padding, i64 7, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %padding, ptr align 1 %other, i64 7, i1 false)
  br label %on
on:
  %p = getelementptr i8, ptr %s, i32 %i
  store i8 3, ptr %p
  %v = load i8, ptr %s
  store i8 %v, ptr addrspace(1) %a
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
