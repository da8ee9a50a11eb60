; (x + c) + u with c and u uniform: one sum on the scalar unit and one in lanes, and one multiplication with addition where x is a product. Without the scalar
; unit the order stays.
; RUN: %heddle build %s --emit asm -o - | FileCheck %s
; RUN: %heddle build %s --no-scalarize --emit asm -o - | FileCheck %s --check-prefix=LANES

declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z12get_local_idj(i32)

; CHECK: .kernel {"name":"sum"
; CHECK: add.b32 [[U:s[0-9]+]], c[0x10], 1
; CHECK-NEXT: add.b32 {{l[0-9]+}}, {{lid.x, }}[[U]]
; LANES: .kernel {"name":"sum"
; LANES: add.b32 [[L:l[0-9]+]], lid.x, 1
; LANES: add.b32 {{l[0-9]+}}, [[L]], c[0x10]
define spir_kernel void @sum(ptr addrspace(1) %p, i32 %t) {
  %g = call i64 @_Z13get_global_idj(i32 0)
  %id = call i64 @_Z12get_local_idj(i32 0)
  %l = trunc i64 %id to i32
  %one = add i32 %l, 1
  %both = add i32 %one, %t
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %g
  store i32 %both, ptr addrspace(1) %at
  ret void
}

; CHECK: .kernel {"name":"product"
; CHECK: add.b32 [[U:s[0-9]+]], c[0x10], 1
; CHECK-NEXT: mad.b32 {{l[0-9]+}}, lid.x, lid.y, [[U]]
define spir_kernel void @product(ptr addrspace(1) %p, i32 %t) {
  %g = call i64 @_Z13get_global_idj(i32 0)
  %x = call i64 @_Z12get_local_idj(i32 0)
  %y = call i64 @_Z12get_local_idj(i32 1)
  %lx = trunc i64 %x to i32
  %ly = trunc i64 %y to i32
  %xy = mul i32 %lx, %ly
  %one = add i32 %xy, 1
  %both = add i32 %one, %t
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %g
  store i32 %both, ptr addrspace(1) %at
  ret void
}

; A sum that is needed by itself stays.
; CHECK: .kernel {"name":"shared"
; CHECK-NOT: add.b32 s
; CHECK: exit
define spir_kernel void @shared(ptr addrspace(1) %p, i32 %t) {
  %g = call i64 @_Z13get_global_idj(i32 0)
  %id = call i64 @_Z12get_local_idj(i32 0)
  %l = trunc i64 %id to i32
  %one = add i32 %l, 1
  %both = add i32 %one, %t
  %product = mul i32 %both, %one
  %at = getelementptr i32, ptr addrspace(1) %p, i64 %g
  store i32 %product, ptr addrspace(1) %at
  ret void
}
