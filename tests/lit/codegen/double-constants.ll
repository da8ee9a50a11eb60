; RUN: %heddle build %s --emit asm -o - | FileCheck %s
;
; A double whose lower half is zero is the immediate of the arithmetic that reads it: the upper half. An instruction
; has one immediate, so the third operand of the second is in the constant bank, as are a double with a lower half and an
; integer of the same bits.

; CHECK: .kernel {"name":"k"
; CHECK: mul.f64 {{.*}}, 0x40000000 ; 2.0
; CHECK-NEXT: fma.f64 {{.*}}, 0xbfe00000, c[0x{{[0-9a-f]+}}] ; -0.5, 4.0
; CHECK-NEXT: mul.f64 {{.*}}, c[0x{{[0-9a-f]+}}] ; 0.1
; CHECK: add.b64 {{.*}}, c[0x{{[0-9a-f]+}}]
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %x = load double, ptr addrspace(1) %p
  %twice = fmul double %x, 2.0
  %both = call double @llvm.fma.f64(double %twice, double -0.5, double 4.0)
  %tenth = fmul double %both, 0.1
  store double %tenth, ptr addrspace(1) %p
  %n = load i64, ptr addrspace(1) %q
  %sum = add i64 %n, 4611686018427387904
  store i64 %sum, ptr addrspace(1) %q
  ret void
}

declare double @llvm.fma.f64(double, double, double)
