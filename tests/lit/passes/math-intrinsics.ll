; RUN: %heddle opt --passes=math-intrinsics %s -o - | FileCheck %s
; Intrinsics of C's mathematical functions become calls of OpenCL's library; others, and those that the machine
; approximates, stay.
; RUN: %heddle run %s --kernel agree --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=BITS
; RUN: %heddle run %s --option=-O0 --kernel agree --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy
; RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=BITS
; BITS: 127 127 127 127 127 127 127 127
target triple = "nvptx64--"
declare i64 @_Z13get_global_idj(i32)
declare float @llvm.pow.f32(float, float)
declare <4 x double> @llvm.pow.v4f64(<4 x double>, <4 x double>)
declare half @llvm.pow.f16(half, half)
declare float @llvm.powi.f32.i32(float, i32)
declare float @llvm.tanh.f32(float)
declare double @llvm.sin.f64(double)
declare float @llvm.sin.f32(float)
declare <2 x float> @llvm.exp10.v2f32(<2 x float>)
declare float @_Z4tanhf(float)
declare float @_Z4fabsf(float)

; CHECK-LABEL: define spir_kernel void @names
; CHECK: call float @_Z3powff(float %f, float 2.500000e+00)
; CHECK: call <4 x double> @_Z3powDv4_dS_(<4 x double> %v, <4 x double> %v)
; CHECK: call half @_Z3powDhDh(half %h, half %h)
; CHECK: call float @_Z4pownfi(float %f, i32 3)
; CHECK: call float @_Z4tanhf(float %f)
; CHECK: call double @_Z3sind(double %d)
; CHECK: call float @llvm.sin.f32(float %f)
; CHECK: call <2 x float> @_Z5exp10Dv2_f(<2 x float> %w)
; CHECK-NOT: @_Z4tanhf.
define spir_kernel void @names(ptr addrspace(1) %out, float %f, double %d, half %h, <4 x double> %v, <2 x float> %w) {
  %1 = call float @llvm.pow.f32(float %f, float 2.5)
  %2 = call <4 x double> @llvm.pow.v4f64(<4 x double> %v, <4 x double> %v)
  %3 = call half @llvm.pow.f16(half %h, half %h)
  %4 = call float @llvm.powi.f32.i32(float %f, i32 3)
  %5 = call float @llvm.tanh.f32(float %f)
  %6 = call double @llvm.sin.f64(double %d)
  %7 = call float @llvm.sin.f32(float %f)
  %8 = call <2 x float> @llvm.exp10.v2f32(<2 x float> %w)
  ret void
}

; The file's own function of that name is another one; the intrinsic in it is OpenCL's.
; CHECK-LABEL: define internal float @_Z4coshf.own
; CHECK: call float @_Z4coshf(float %x)
define internal float @_Z4coshf(float %x) {
  %r = call float @llvm.cosh.f32(float %x)
  ret float %r
}

; A bit for each identity that holds to 1e-5 of one: x^2.5 squared is x^5, and so on.
define spir_kernel void @agree(ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %n = add i64 %i, 1
  %whole = sitofp i64 %n to float
  %x = fmul float %whole, 0.125
  %power = call float @llvm.pow.f32(float %x, float 2.5)
  %squared = fmul float %power, %power
  %fifth = call float @llvm.powi.f32.i32(float %x, i32 5)
  %b0 = call i1 @near(float %squared, float %fifth)
  %x2 = fmul float %x, %x
  %x4 = fmul float %x2, %x2
  %x5 = fmul float %x4, %x
  %b1 = call i1 @near(float %fifth, float %x5)
  %t = call float @llvm.tanh.f32(float %x)
  %same = call float @_Z4tanhf(float %x)
  %b2 = fcmp oeq float %t, %same
  %d = fpext float %x to double
  %sine = call double @llvm.sin.f64(double %d)
  %sine2 = fmul double %sine, %sine
  %cosine2 = fsub double 1.0, %sine2
  %tangent2 = fdiv double %sine2, %cosine2
  %tangent2f = fptrunc double %tangent2 to float
  %tangent = call float @llvm.tan.f32(float %x)
  %square = fmul float %tangent, %tangent
  %b3 = call i1 @near(float %tangent2f, float %square)
  %logarithm = call double @llvm.log.f64(double %d)
  %back = call double @llvm.exp.f64(double %logarithm)
  %backf = fptrunc double %back to float
  %b4 = call i1 @near(float %backf, float %x)
  %w0 = insertelement <2 x float> poison, float %x, i32 0
  %w = insertelement <2 x float> %w0, float 2.0, i32 1
  %tens = call <2 x float> @llvm.exp10.v2f32(<2 x float> %w)
  %hundred = extractelement <2 x float> %tens, i32 1
  %b5 = call i1 @near(float %hundred, float 100.0)
  ; cosh² is 1 / (1 - tanh²).
  %c = call float @_Z4coshf(float %x)
  %c2 = fmul float %c, %c
  %t2 = fmul float %t, %t
  %rest = fsub float 1.0, %t2
  %inverse = fdiv float 1.0, %rest
  %b6 = call i1 @near(float %c2, float %inverse)
  %z0 = zext i1 %b0 to i32
  %z1 = select i1 %b1, i32 2, i32 0
  %z2 = select i1 %b2, i32 4, i32 0
  %z3 = select i1 %b3, i32 8, i32 0
  %z4 = select i1 %b4, i32 16, i32 0
  %z5 = select i1 %b5, i32 32, i32 0
  %o1 = or i32 %z0, %z1
  %o2 = or i32 %o1, %z2
  %o3 = or i32 %o2, %z3
  %o4 = or i32 %o3, %z4
  %o5 = or i32 %o4, %z5
  %z6 = select i1 %b6, i32 64, i32 0
  %o6 = or i32 %o5, %z6
  %p = getelementptr i32, ptr addrspace(1) %out, i64 %i
  store i32 %o6, ptr addrspace(1) %p
  ret void
}

define i1 @near(float %a, float %b) {
  %difference = fsub float %a, %b
  %size = call float @_Z4fabsf(float %difference)
  %scale = call float @_Z4fabsf(float %b)
  %limit = fmul float %scale, 0x3EE4F8B580000000
  %result = fcmp ole float %size, %limit
  ret i1 %result
}

declare float @llvm.tan.f32(float)
declare float @llvm.cosh.f32(float)
declare double @llvm.log.f64(double)
declare double @llvm.exp.f64(double)
