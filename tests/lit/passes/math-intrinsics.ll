; RUN: %heddle opt --passes=math-intrinsics %s -o - | FileCheck %s
; Intrinsics of C's mathematical functions become calls of OpenCL's library; others, and those that the machine
; approximates, stay.
; RUN: %heddle run %s --kernel agree --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=BITS
; RUN: %heddle run %s --option=-O0 --kernel agree --global 8 --local 8 --arg out=zeros:int32:8,save=%t.npy
; RUN: od -An -v -w32 -td4 -j128 %t.npy | tr -s ' ' | FileCheck %s --check-prefix=BITS
; BITS: 2047 2047 2047 2047 2047 2047 2047 2047
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
; CHECK: call float @_Z3powff(float %{{[0-9]+}}, float %{{[0-9]+}})
; CHECK: call <4 x double> @_Z3powDv4_dS_(
; CHECK: call half @_Z3powDhDh(
; CHECK: call float @_Z4pownfi(
; CHECK: call float @_Z4tanhf(
; CHECK: call double @_Z3sind(
; CHECK: call float @llvm.sin.f32(float %f)
; CHECK: call <2 x float> @_Z5exp10Dv2_f(
; CHECK: extractelement <5 x float> %five, i32 0
; CHECK: call float @_Z3tanf(
; CHECK-COUNT-4: call float @_Z3tanf(
; CHECK: sext i16 %e to i32
; CHECK: call float @_Z4pownfi(
; CHECK: call double @_Z4powndi(
; CHECK: call double @_Z4powndi(
; CHECK: call float @llvm.powi.f32.i64(
; CHECK: ret void
define spir_kernel void @names(ptr addrspace(1) %out, float %f, double %d, half %h, <4 x double> %v, <2 x float> %w,
    <5 x float> %five, i16 %e, i64 %long) {
  %1 = call float @llvm.pow.f32(float %f, float 2.5)
  %2 = call <4 x double> @llvm.pow.v4f64(<4 x double> %v, <4 x double> %v)
  %3 = call half @llvm.pow.f16(half %h, half %h)
  %4 = call float @llvm.powi.f32.i32(float %f, i32 3)
  %5 = call float @llvm.tanh.f32(float %f)
  %6 = call double @llvm.sin.f64(double %d)
  %7 = call float @llvm.sin.f32(float %f)
  %8 = call <2 x float> @llvm.exp10.v2f32(<2 x float> %w)
  %9 = call <5 x float> @llvm.tan.v5f32(<5 x float> %five)
  %10 = call float @llvm.powi.f32.i16(float %f, i16 %e)
  %two = shufflevector <4 x double> %v, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %11 = call <2 x double> @llvm.powi.v2f64.i32(<2 x double> %two, i32 3)
  %12 = call float @llvm.powi.f32.i64(float %f, i64 %long)
  ret void
}

; The file's own function of that name is another one; the intrinsic in it is OpenCL's.
; CHECK-LABEL: define internal float @_Z4coshf.own
; CHECK: [[X:%.*]] = freeze float %x
; CHECK: call float @_Z4coshf(float [[X]])
define internal float @_Z4coshf(float %x) {
  %r = call float @llvm.cosh.f32(float %x)
  ret float %r
}

; So is one that other files see, or that each file has that includes it.
; CHECK-LABEL: define double @_Z4atand.own
; CHECK: call double @_Z4atand(
define double @_Z4atand(double %x) {
  %r = call double @llvm.atan.f64(double %x)
  %twice = fmul double %r, 2.0
  ret double %twice
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
  ; The file's own arc tangent is twice OpenCL's.
  %own = call double @_Z4atand(double 1.0)
  %b7 = fcmp oeq double %own, 0x3FF921FB54442D18
  ; Elements of vectors that OpenCL does not have, of halves, and whole powers of vectors.
  %f0 = insertelement <5 x float> poison, float %x, i32 4
  %f1 = call <5 x float> @llvm.tan.v5f32(<5 x float> %f0)
  %f2 = extractelement <5 x float> %f1, i32 4
  %b8 = fcmp oeq float %f2, %tangent
  %hx = sitofp i64 %n to half
  %h0 = insertelement <3 x half> poison, half %hx, i32 2
  %h1 = call <3 x half> @llvm.powi.v3f16.i32(<3 x half> %h0, i32 -2)
  %h2 = extractelement <3 x half> %h1, i32 2
  %h3 = fmul half %h2, %hx
  %h4 = fmul half %h3, %hx
  %h5 = fpext half %h4 to float
  %h6 = fsub float %h5, 1.0
  %h7 = call float @_Z4fabsf(float %h6)
  %b9 = fcmp ole float %h7, 0x3F70000000000000
  %g0 = insertelement <4 x half> zeroinitializer, half %hx, i32 3
  %g1 = call <4 x half> @llvm.pow.v4f16(<4 x half> %g0, <4 x half> <half 1.0, half 1.0, half 1.0, half 2.0>)
  %g2 = extractelement <4 x half> %g1, i32 3
  %g3 = fmul half %hx, %hx
  %b10 = fcmp oeq half %g2, %g3
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
  %z7 = select i1 %b7, i32 128, i32 0
  %o7 = or i32 %o6, %z7
  %z8 = select i1 %b8, i32 256, i32 0
  %o8 = or i32 %o7, %z8
  %z9 = select i1 %b9, i32 512, i32 0
  %o9 = or i32 %o8, %z9
  %z10 = select i1 %b10, i32 1024, i32 0
  %o10 = or i32 %o9, %z10
  %p = getelementptr i32, ptr addrspace(1) %out, i64 %i
  store i32 %o10, ptr addrspace(1) %p
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

declare <5 x float> @llvm.tan.v5f32(<5 x float>)
declare float @llvm.powi.f32.i16(float, i16)
declare float @llvm.powi.f32.i64(float, i64)
declare <2 x double> @llvm.powi.v2f64.i32(<2 x double>, i32)
declare <3 x half> @llvm.powi.v3f16.i32(<3 x half>, i32)
declare <4 x half> @llvm.pow.v4f16(<4 x half>, <4 x half>)
declare double @llvm.atan.f64(double)
declare float @llvm.tan.f32(float)
declare float @llvm.cosh.f32(float)
declare double @llvm.log.f64(double)
declare double @llvm.exp.f64(double)
