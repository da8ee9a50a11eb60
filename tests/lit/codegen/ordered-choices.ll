; A choice between two floats by their order is a minimum or maximum where neither NaN nor the sign of a zero tells them apart.
; RUN: %heddle build %s --no-global-id --stop-after=cleanup --verify -o - | FileCheck %s
target triple = "nvptx64--"

; Where x is NaN both give the constant, and of two zeros the positive one.
; CHECK-LABEL: kernel @exact
; CHECK: max.f32 {{%[0-9]+}}, [[X:%[0-9]+]], 0
; CHECK-NOT: cmp.o
; CHECK: min.f32
; CHECK: st.global
define spir_kernel void @exact(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %c = fcmp ogt float %x, 0.0
  %m = select i1 %c, float %x, float 0.0
  %d = fcmp olt float %m, 2.0
  %n = select i1 %d, float %m, float 2.0
  store float %n, ptr addrspace(1) %p
  ret void
}

; A NaN stays; of a zero and a negative one the second operand is taken, whatever its sign.
; CHECK-LABEL: kernel @different
; CHECK-NOT: {{max|min}}.f32
; CHECK: exit
define spir_kernel void @different(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %c = fcmp olt float %x, 2.0
  %m = select i1 %c, float 2.0, float %x
  store float %m, ptr addrspace(1) %p
  %q = getelementptr float, ptr addrspace(1) %p, i64 1
  %y = load float, ptr addrspace(1) %q
  %d = fcmp olt float %y, 0.0
  %n = select i1 %d, float %y, float 0.0
  store float %n, ptr addrspace(1) %q
  ret void
}

; Without NaN and signs of zeros.
; CHECK-LABEL: kernel @flags
; CHECK: max.f32
; CHECK-NOT: cmp.
; CHECK: exit
define spir_kernel void @flags(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %c = fcmp olt float %x, 2.0
  %m = select nnan nsz i1 %c, float 2.0, float %x
  store float %m, ptr addrspace(1) %p
  ret void
}

; A NaN is no integer.
; CHECK-LABEL: kernel @converted
; CHECK: max.f32
; CHECK: min.f32
; CHECK-NOT: cmp.
; CHECK: cvt.u32.f32
define spir_kernel void @converted(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %c = fcmp olt float %x, 0.0
  %m = select i1 %c, float 0.0, float %x
  %d = fcmp ogt float %m, 255.0
  %n = select i1 %d, float 255.0, float %m
  %i = fptoui float %n to i32
  store i32 %i, ptr addrspace(1) %p
  ret void
}

; Something else sees the NaN.
; CHECK-LABEL: kernel @seen
; CHECK-NOT: {{max|min}}.f32
; CHECK: exit
define spir_kernel void @seen(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %c = fcmp olt float %x, 0.0
  %m = select i1 %c, float 0.0, float %x
  %i = fptoui float %m to i32
  store i32 %i, ptr addrspace(1) %p
  %q = getelementptr float, ptr addrspace(1) %p, i64 1
  store float %m, ptr addrspace(1) %q
  ret void
}

; A NaN does not come as far as the conversion: the second choice gives 255 for it.
; CHECK-LABEL: kernel @stopped
; CHECK: cmp.olt.f32
; CHECK-NOT: max.f32
; CHECK: min.f32
define spir_kernel void @stopped(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %c = fcmp olt float %x, 0.0
  %m = select i1 %c, float 0.0, float %x
  %d = fcmp olt float %m, 255.0
  %n = select i1 %d, float %m, float 255.0
  %i = fptosi float %n to i32
  store i32 %i, ptr addrspace(1) %p
  ret void
}
