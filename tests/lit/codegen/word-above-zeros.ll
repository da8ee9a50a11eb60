; LLVM extends the sign of an index by shifting it up and down, and adds to it on the way. The low word, which addresses of local memory are made of, is a
; shift of the sum.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s

declare i64 @_Z13get_global_idj(i32)

; CHECK: .kernel
; CHECK-NOT: {{[bsu]}}64
; CHECK-NOT: fshr
; CHECK: exit
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l) {
  %g = call i64 @_Z13get_global_idj(i32 0)
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %g
  %i = load i32, ptr addrspace(1) %at
  %wide = zext i32 %i to i64
  %up = shl nuw i64 %wide, 32
  %sum = add i64 %up, 2783138807808
  %down = ashr exact i64 %sum, 30
  %place = getelementptr i8, ptr addrspace(3) %l, i64 %down
  store i32 %i, ptr addrspace(3) %place
  ret void
}
