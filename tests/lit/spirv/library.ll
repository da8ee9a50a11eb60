; IR that calls the built-in library is linked with it.
;
; RUN: %heddle build --emit ir %s -o - | FileCheck %s
; RUN: llvm-as %s -o %t.bc && %heddle build --emit ir %t.bc -o - | FileCheck %s
target triple = "nvptx64-unknown-unknown"

; CHECK: define spir_kernel void @k
; CHECK: call {{.*}}float @llvm.sqrt.f32
; CHECK-NOT: @_Z
define spir_kernel void @k(ptr addrspace(1) %a) {
  %value = load float, ptr addrspace(1) %a
  %root = call float @_Z4sqrtf(float %value)
  store float %root, ptr addrspace(1) %a
  ret void
}

declare float @_Z4sqrtf(float)
