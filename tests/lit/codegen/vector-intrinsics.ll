; Intrinsics that other front ends write: reductions of floats, conversions that round, comparisons in three ways, vectors arranged
; anew (of which weighted sums say where each element is). The expected values are Python's.
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg out=zeros:int64:4x23,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w184 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
; RUN: %heddle run %s --option=-O0 --kernel k --global 4 --local 4 --arg out=zeros:int64:4x23,save=%t.npy --verify
; RUN: od -An -v -w184 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg out=zeros:int64:4x23,save=%t.npy --mode functional --jit always
; RUN: od -An -v -w184 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
; CHECK: 1091567616 2147483648 0 3223322624 1 3223322624 2 2 -2 -3 -1 1 0 1069547520 511 104060 308060 -707400 -614740 1113160 -1113160 -1205860 -604100
; CHECK-NEXT: 1091567616 3242721280 1065353216 3231711232 1 3231711232 2 3 -5 -5 -1 1 -1 1075838976 511 144634 288092 -747972 -658021 1153734 -1153734 -1375607 -624270
; CHECK-NEXT: 1091567616 3268542464 1073741824 3236954112 1 3236954112 4 4 -8 -8 0 -1 0 1080033280 511 185208 268124 -788544 -701302 1194308 -1194308 -1545354 -644440
; CHECK-NEXT: 1091567616 3284828160 1077936128 3240099840 1 3240099840 4 5 -10 -10 1 0 -1 1083179008 511 225782 248156 -829116 -744583 1234882 -1234882 -1715101 -664610
target triple = "nvptx64--"
declare i64 @_Z13get_global_idj(i32)
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
declare float @llvm.vector.reduce.fmul.v4f32(float, <4 x float>)
declare float @llvm.vector.reduce.fmax.v4f32(<4 x float>)
declare float @llvm.vector.reduce.fmin.v4f32(<4 x float>)
declare float @llvm.vector.reduce.fmaximum.v4f32(<4 x float>)
declare float @llvm.vector.reduce.fminimum.v4f32(<4 x float>)
declare i32 @llvm.lrint.i32.f32(float)
declare i32 @llvm.lround.i32.f32(float)
declare i64 @llvm.llrint.i64.f64(double)
declare i64 @llvm.llround.i64.f32(float)
declare i32 @llvm.scmp.i32.i64(i64, i64)
declare i8 @llvm.ucmp.i8.i64(i64, i64)
declare i8 @llvm.scmp.i8.i1(i1, i1)
declare float @llvm.arithmetic.fence.f32(float)
declare float @llvm.canonicalize.f32(float)
declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)
declare <4 x i32> @llvm.vector.splice.v4i32(<4 x i32>, <4 x i32>, i32)
declare <8 x i32> @llvm.vector.interleave2.v8i32(<4 x i32>, <4 x i32>)
declare {<4 x i32>, <4 x i32>} @llvm.vector.deinterleave2.v8i32(<8 x i32>)
declare <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32>, <4 x i32>, i64)
declare <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32>, i64)

define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %n = trunc i64 %i to i32
  %f = sitofp i32 %n to float
  %x1 = fadd float %f, 1.5
  %next = fadd float %f, 1.0
  %x2 = fmul float %next, -2.5
  %x3 = fmul float %f, 0.5
  %v0 = insertelement <4 x float> poison, float %f, i32 0
  %v1 = insertelement <4 x float> %v0, float %x1, i32 1
  %v2 = insertelement <4 x float> %v1, float %x2, i32 2
  %v = insertelement <4 x float> %v2, float %x3, i32 3
  %none = insertelement <4 x float> %v, float 0x7FF8000000000000, i32 1
  %d = fpext float %x2 to double
  %a10 = add i32 %n, 10
  %a20 = add i32 %n, 20
  %a30 = add i32 %n, 30
  %u0 = insertelement <4 x i32> poison, i32 %n, i32 0
  %u1 = insertelement <4 x i32> %u0, i32 %a10, i32 1
  %u2 = insertelement <4 x i32> %u1, i32 %a20, i32 2
  %u = insertelement <4 x i32> %u2, i32 %a30, i32 3
  %minus = sub <4 x i32> zeroinitializer, %u
  %less = sub i64 %i, 2
  %r1 = call float @llvm.vector.reduce.fadd.v4f32(float 10.0, <4 x float> %v)
  %fb0 = bitcast float %r1 to i32
  %w0 = zext i32 %fb0 to i64
  %p0 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 0
  store i64 %w0, ptr addrspace(1) %p0
  %r2 = call float @llvm.vector.reduce.fmul.v4f32(float 2.0, <4 x float> %v)
  %fb1 = bitcast float %r2 to i32
  %w1 = zext i32 %fb1 to i64
  %p1 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 1
  store i64 %w1, ptr addrspace(1) %p1
  %r3 = call float @llvm.vector.reduce.fmax.v4f32(<4 x float> %none)
  %fb2 = bitcast float %r3 to i32
  %w2 = zext i32 %fb2 to i64
  %p2 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 2
  store i64 %w2, ptr addrspace(1) %p2
  %r4 = call float @llvm.vector.reduce.fmin.v4f32(<4 x float> %v)
  %fb3 = bitcast float %r4 to i32
  %w3 = zext i32 %fb3 to i64
  %p3 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 3
  store i64 %w3, ptr addrspace(1) %p3
  %r5 = call float @llvm.vector.reduce.fmaximum.v4f32(<4 x float> %none)
  %r5n = fcmp uno float %r5, %r5
  %w4 = zext i1 %r5n to i64
  %p4 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 4
  store i64 %w4, ptr addrspace(1) %p4
  %r6 = call float @llvm.vector.reduce.fminimum.v4f32(<4 x float> %v)
  %fb5 = bitcast float %r6 to i32
  %w5 = zext i32 %fb5 to i64
  %p5 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 5
  store i64 %w5, ptr addrspace(1) %p5
  %r7 = call i32 @llvm.lrint.i32.f32(float %x1)
  %w6 = sext i32 %r7 to i64
  %p6 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 6
  store i64 %w6, ptr addrspace(1) %p6
  %r8 = call i32 @llvm.lround.i32.f32(float %x1)
  %w7 = sext i32 %r8 to i64
  %p7 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 7
  store i64 %w7, ptr addrspace(1) %p7
  %r9 = call i64 @llvm.llrint.i64.f64(double %d)
  %p8 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 8
  store i64 %r9, ptr addrspace(1) %p8
  %r10 = call i64 @llvm.llround.i64.f32(float %x2)
  %p9 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 9
  store i64 %r10, ptr addrspace(1) %p9
  %r11 = call i32 @llvm.scmp.i32.i64(i64 %less, i64 0)
  %w10 = sext i32 %r11 to i64
  %p10 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 10
  store i64 %w10, ptr addrspace(1) %p10
  %r12 = call i8 @llvm.ucmp.i8.i64(i64 %less, i64 1)
  %w11 = sext i8 %r12 to i64
  %p11 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 11
  store i64 %w11, ptr addrspace(1) %p11
  %odd = trunc i32 %n to i1
  %r13 = call i8 @llvm.scmp.i8.i1(i1 %odd, i1 false)
  %w12 = sext i8 %r13 to i64
  %p12 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 12
  store i64 %w12, ptr addrspace(1) %p12
  %r14 = call float @llvm.arithmetic.fence.f32(float %x1)
  %fb13 = bitcast float %r14 to i32
  %w13 = zext i32 %fb13 to i64
  %p13 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 13
  store i64 %w13, ptr addrspace(1) %p13
  %sb = or i32 %n, 2141192192
  %sn = bitcast i32 %sb to float
  %r15 = call float @llvm.canonicalize.f32(float %sn)
  %qb = bitcast float %r15 to i32
  %qq = lshr i32 %qb, 22
  %w14 = sext i32 %qq to i64
  %p14 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 14
  store i64 %w14, ptr addrspace(1) %p14
  %r16 = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %u)
  %er16_0 = extractelement <4 x i32> %r16, i32 0
  %er16_1 = extractelement <4 x i32> %r16, i32 1
  %er16_2 = extractelement <4 x i32> %r16, i32 2
  %er16_3 = extractelement <4 x i32> %r16, i32 3
  %mr16_0 = mul i32 %er16_0, 1
  %mr16_1 = mul i32 %er16_1, 101
  %sr16_1 = add i32 %mr16_0, %mr16_1
  %mr16_2 = mul i32 %er16_2, 10201
  %sr16_2 = add i32 %sr16_1, %mr16_2
  %mr16_3 = mul i32 %er16_3, 30271
  %sr16_3 = add i32 %sr16_2, %mr16_3
  %w15 = sext i32 %sr16_3 to i64
  %p15 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 15
  store i64 %w15, ptr addrspace(1) %p15
  %r17 = call <4 x i32> @llvm.vector.splice.v4i32(<4 x i32> %u, <4 x i32> %minus, i32 1)
  %er17_0 = extractelement <4 x i32> %r17, i32 0
  %er17_1 = extractelement <4 x i32> %r17, i32 1
  %er17_2 = extractelement <4 x i32> %r17, i32 2
  %er17_3 = extractelement <4 x i32> %r17, i32 3
  %mr17_0 = mul i32 %er17_0, 1
  %mr17_1 = mul i32 %er17_1, 101
  %sr17_1 = add i32 %mr17_0, %mr17_1
  %mr17_2 = mul i32 %er17_2, 10201
  %sr17_2 = add i32 %sr17_1, %mr17_2
  %mr17_3 = mul i32 %er17_3, 30271
  %sr17_3 = add i32 %sr17_2, %mr17_3
  %w16 = sext i32 %sr17_3 to i64
  %p16 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 16
  store i64 %w16, ptr addrspace(1) %p16
  %r18 = call <4 x i32> @llvm.vector.splice.v4i32(<4 x i32> %u, <4 x i32> %minus, i32 -1)
  %er18_0 = extractelement <4 x i32> %r18, i32 0
  %er18_1 = extractelement <4 x i32> %r18, i32 1
  %er18_2 = extractelement <4 x i32> %r18, i32 2
  %er18_3 = extractelement <4 x i32> %r18, i32 3
  %mr18_0 = mul i32 %er18_0, 1
  %mr18_1 = mul i32 %er18_1, 101
  %sr18_1 = add i32 %mr18_0, %mr18_1
  %mr18_2 = mul i32 %er18_2, 10201
  %sr18_2 = add i32 %sr18_1, %mr18_2
  %mr18_3 = mul i32 %er18_3, 30271
  %sr18_3 = add i32 %sr18_2, %mr18_3
  %w17 = sext i32 %sr18_3 to i64
  %p17 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 17
  store i64 %w17, ptr addrspace(1) %p17
  %r19 = call <8 x i32> @llvm.vector.interleave2.v8i32(<4 x i32> %u, <4 x i32> %minus)
  %er19_0 = extractelement <8 x i32> %r19, i32 0
  %er19_1 = extractelement <8 x i32> %r19, i32 1
  %er19_2 = extractelement <8 x i32> %r19, i32 2
  %er19_3 = extractelement <8 x i32> %r19, i32 3
  %er19_4 = extractelement <8 x i32> %r19, i32 4
  %er19_5 = extractelement <8 x i32> %r19, i32 5
  %er19_6 = extractelement <8 x i32> %r19, i32 6
  %er19_7 = extractelement <8 x i32> %r19, i32 7
  %mr19_0 = mul i32 %er19_0, 1
  %mr19_1 = mul i32 %er19_1, 101
  %sr19_1 = add i32 %mr19_0, %mr19_1
  %mr19_2 = mul i32 %er19_2, 10201
  %sr19_2 = add i32 %sr19_1, %mr19_2
  %mr19_3 = mul i32 %er19_3, 30271
  %sr19_3 = add i32 %sr19_2, %mr19_3
  %mr19_4 = mul i32 %er19_4, 57281
  %sr19_4 = add i32 %sr19_3, %mr19_4
  %mr19_5 = mul i32 %er19_5, 85210
  %sr19_5 = add i32 %sr19_4, %mr19_5
  %mr19_6 = mul i32 %er19_6, 5952
  %sr19_6 = add i32 %sr19_5, %mr19_6
  %mr19_7 = mul i32 %er19_7, 1134
  %sr19_7 = add i32 %sr19_6, %mr19_7
  %w18 = sext i32 %sr19_7 to i64
  %p18 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 18
  store i64 %w18, ptr addrspace(1) %p18
  %r20 = call {<4 x i32>, <4 x i32>} @llvm.vector.deinterleave2.v8i32(<8 x i32> %r19)
  %lo = extractvalue {<4 x i32>, <4 x i32>} %r20, 0
  %hi = extractvalue {<4 x i32>, <4 x i32>} %r20, 1
  %elo_0 = extractelement <4 x i32> %lo, i32 0
  %elo_1 = extractelement <4 x i32> %lo, i32 1
  %elo_2 = extractelement <4 x i32> %lo, i32 2
  %elo_3 = extractelement <4 x i32> %lo, i32 3
  %mlo_0 = mul i32 %elo_0, 1
  %mlo_1 = mul i32 %elo_1, 101
  %slo_1 = add i32 %mlo_0, %mlo_1
  %mlo_2 = mul i32 %elo_2, 10201
  %slo_2 = add i32 %slo_1, %mlo_2
  %mlo_3 = mul i32 %elo_3, 30271
  %slo_3 = add i32 %slo_2, %mlo_3
  %w19 = sext i32 %slo_3 to i64
  %p19 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 19
  store i64 %w19, ptr addrspace(1) %p19
  %ehi_0 = extractelement <4 x i32> %hi, i32 0
  %ehi_1 = extractelement <4 x i32> %hi, i32 1
  %ehi_2 = extractelement <4 x i32> %hi, i32 2
  %ehi_3 = extractelement <4 x i32> %hi, i32 3
  %mhi_0 = mul i32 %ehi_0, 1
  %mhi_1 = mul i32 %ehi_1, 101
  %shi_1 = add i32 %mhi_0, %mhi_1
  %mhi_2 = mul i32 %ehi_2, 10201
  %shi_2 = add i32 %shi_1, %mhi_2
  %mhi_3 = mul i32 %ehi_3, 30271
  %shi_3 = add i32 %shi_2, %mhi_3
  %w20 = sext i32 %shi_3 to i64
  %p20 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 20
  store i64 %w20, ptr addrspace(1) %p20
  %r21 = call <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32> %r19, <4 x i32> %minus, i64 4)
  %er21_0 = extractelement <8 x i32> %r21, i32 0
  %er21_1 = extractelement <8 x i32> %r21, i32 1
  %er21_2 = extractelement <8 x i32> %r21, i32 2
  %er21_3 = extractelement <8 x i32> %r21, i32 3
  %er21_4 = extractelement <8 x i32> %r21, i32 4
  %er21_5 = extractelement <8 x i32> %r21, i32 5
  %er21_6 = extractelement <8 x i32> %r21, i32 6
  %er21_7 = extractelement <8 x i32> %r21, i32 7
  %mr21_0 = mul i32 %er21_0, 1
  %mr21_1 = mul i32 %er21_1, 101
  %sr21_1 = add i32 %mr21_0, %mr21_1
  %mr21_2 = mul i32 %er21_2, 10201
  %sr21_2 = add i32 %sr21_1, %mr21_2
  %mr21_3 = mul i32 %er21_3, 30271
  %sr21_3 = add i32 %sr21_2, %mr21_3
  %mr21_4 = mul i32 %er21_4, 57281
  %sr21_4 = add i32 %sr21_3, %mr21_4
  %mr21_5 = mul i32 %er21_5, 85210
  %sr21_5 = add i32 %sr21_4, %mr21_5
  %mr21_6 = mul i32 %er21_6, 5952
  %sr21_6 = add i32 %sr21_5, %mr21_6
  %mr21_7 = mul i32 %er21_7, 1134
  %sr21_7 = add i32 %sr21_6, %mr21_7
  %w21 = sext i32 %sr21_7 to i64
  %p21 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 21
  store i64 %w21, ptr addrspace(1) %p21
  %r22 = call <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32> %r19, i64 4)
  %er22_0 = extractelement <4 x i32> %r22, i32 0
  %er22_1 = extractelement <4 x i32> %r22, i32 1
  %er22_2 = extractelement <4 x i32> %r22, i32 2
  %er22_3 = extractelement <4 x i32> %r22, i32 3
  %mr22_0 = mul i32 %er22_0, 1
  %mr22_1 = mul i32 %er22_1, 101
  %sr22_1 = add i32 %mr22_0, %mr22_1
  %mr22_2 = mul i32 %er22_2, 10201
  %sr22_2 = add i32 %sr22_1, %mr22_2
  %mr22_3 = mul i32 %er22_3, 30271
  %sr22_3 = add i32 %sr22_2, %mr22_3
  %w22 = sext i32 %sr22_3 to i64
  %p22 = getelementptr [23 x i64], ptr addrspace(1) %out, i64 %i, i64 22
  store i64 %w22, ptr addrspace(1) %p22
  ret void
}
