; Integer operations of one bit: clang's passes make some of wider ones. A signed bit is 0 or -1. Work-item i does all of them on the
; bits of i, in lanes, and on those of the argument u, which are uniform; one bit of a number for each. Found by a random program.
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg out=zeros:int64:4x2,save=%t.npy \
; RUN:   --arg i32=6 --mode timing --check=all --verify
; RUN: od -An -v -w16 -td8 -j128 %t.npy | FileCheck %s
; CHECK: 25769806848 25777849458
; CHECK-NEXT: 27785870323 25777849458
; CHECK-NEXT: 25777849458 25777849458
; CHECK-NEXT: 130971693695 25777849458
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %out, i32 %u) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %item = trunc i64 %i to i32
  %number = or i32 %item, 4
  %la = trunc i32 %number to i1
  %lw1 = lshr i32 %number, 1
  %lb = trunc i32 %lw1 to i1
  %lw2 = lshr i32 %number, 2
  %lone = trunc i32 %lw2 to i1
  %lw3 = lshr i32 %number, 3
  %lzero = trunc i32 %lw3 to i1
  %lv0 = insertelement <3 x i1> poison, i1 %la, i32 0
  %lv1 = insertelement <3 x i1> %lv0, i1 %lb, i32 1
  %lv = insertelement <3 x i1> %lv1, i1 %lone, i32 2
  %lr0 = call i1 @llvm.abs.i1(i1 %la, i1 false)
  %lz0 = zext i1 %lr0 to i64
  %ls0 = shl i64 %lz0, 0
  %lo0 = or i64 0, %ls0
  %lr1 = call i1 @llvm.smin.i1(i1 %la, i1 %lb)
  %lz1 = zext i1 %lr1 to i64
  %ls1 = shl i64 %lz1, 1
  %lo1 = or i64 %lo0, %ls1
  %lr2 = call i1 @llvm.smax.i1(i1 %la, i1 %lb)
  %lz2 = zext i1 %lr2 to i64
  %ls2 = shl i64 %lz2, 2
  %lo2 = or i64 %lo1, %ls2
  %lr3 = call i1 @llvm.umin.i1(i1 %la, i1 %lb)
  %lz3 = zext i1 %lr3 to i64
  %ls3 = shl i64 %lz3, 3
  %lo3 = or i64 %lo2, %ls3
  %lr4 = call i1 @llvm.umax.i1(i1 %la, i1 %lb)
  %lz4 = zext i1 %lr4 to i64
  %ls4 = shl i64 %lz4, 4
  %lo4 = or i64 %lo3, %ls4
  %lr5 = call i1 @llvm.sadd.sat.i1(i1 %la, i1 %lb)
  %lz5 = zext i1 %lr5 to i64
  %ls5 = shl i64 %lz5, 5
  %lo5 = or i64 %lo4, %ls5
  %lr6 = call i1 @llvm.uadd.sat.i1(i1 %la, i1 %lb)
  %lz6 = zext i1 %lr6 to i64
  %ls6 = shl i64 %lz6, 6
  %lo6 = or i64 %lo5, %ls6
  %lr7 = call i1 @llvm.ssub.sat.i1(i1 %la, i1 %lb)
  %lz7 = zext i1 %lr7 to i64
  %ls7 = shl i64 %lz7, 7
  %lo7 = or i64 %lo6, %ls7
  %lr8 = call i1 @llvm.usub.sat.i1(i1 %la, i1 %lb)
  %lz8 = zext i1 %lr8 to i64
  %ls8 = shl i64 %lz8, 8
  %lo8 = or i64 %lo7, %ls8
  %lr9 = call i1 @llvm.ctpop.i1(i1 %la)
  %lz9 = zext i1 %lr9 to i64
  %ls9 = shl i64 %lz9, 9
  %lo9 = or i64 %lo8, %ls9
  %lr10 = call i1 @llvm.ctlz.i1(i1 %la, i1 false)
  %lz10 = zext i1 %lr10 to i64
  %ls10 = shl i64 %lz10, 10
  %lo10 = or i64 %lo9, %ls10
  %lr11 = call i1 @llvm.cttz.i1(i1 %lb, i1 false)
  %lz11 = zext i1 %lr11 to i64
  %ls11 = shl i64 %lz11, 11
  %lo11 = or i64 %lo10, %ls11
  %lr12 = call i1 @llvm.bitreverse.i1(i1 %la)
  %lz12 = zext i1 %lr12 to i64
  %ls12 = shl i64 %lz12, 12
  %lo12 = or i64 %lo11, %ls12
  %lr13 = call i1 @llvm.fshl.i1(i1 %la, i1 %lb, i1 %lone)
  %lz13 = zext i1 %lr13 to i64
  %ls13 = shl i64 %lz13, 13
  %lo13 = or i64 %lo12, %ls13
  %lr14 = call i1 @llvm.fshr.i1(i1 %la, i1 %lb, i1 %lone)
  %lz14 = zext i1 %lr14 to i64
  %ls14 = shl i64 %lz14, 14
  %lo14 = or i64 %lo13, %ls14
  %lr15 = call {i1, i1} @llvm.sadd.with.overflow.i1(i1 %la, i1 %lb)
  %lp15 = extractvalue {i1, i1} %lr15, 0
  %lz15 = zext i1 %lp15 to i64
  %ls15 = shl i64 %lz15, 15
  %lo15 = or i64 %lo14, %ls15
  %lq15 = extractvalue {i1, i1} %lr15, 1
  %lz16 = zext i1 %lq15 to i64
  %ls16 = shl i64 %lz16, 16
  %lo16 = or i64 %lo15, %ls16
  %lr16 = call {i1, i1} @llvm.uadd.with.overflow.i1(i1 %la, i1 %lb)
  %lp16 = extractvalue {i1, i1} %lr16, 0
  %lz17 = zext i1 %lp16 to i64
  %ls17 = shl i64 %lz17, 17
  %lo17 = or i64 %lo16, %ls17
  %lq16 = extractvalue {i1, i1} %lr16, 1
  %lz18 = zext i1 %lq16 to i64
  %ls18 = shl i64 %lz18, 18
  %lo18 = or i64 %lo17, %ls18
  %lr17 = call {i1, i1} @llvm.ssub.with.overflow.i1(i1 %la, i1 %lb)
  %lp17 = extractvalue {i1, i1} %lr17, 0
  %lz19 = zext i1 %lp17 to i64
  %ls19 = shl i64 %lz19, 19
  %lo19 = or i64 %lo18, %ls19
  %lq17 = extractvalue {i1, i1} %lr17, 1
  %lz20 = zext i1 %lq17 to i64
  %ls20 = shl i64 %lz20, 20
  %lo20 = or i64 %lo19, %ls20
  %lr18 = call {i1, i1} @llvm.usub.with.overflow.i1(i1 %la, i1 %lb)
  %lp18 = extractvalue {i1, i1} %lr18, 0
  %lz21 = zext i1 %lp18 to i64
  %ls21 = shl i64 %lz21, 21
  %lo21 = or i64 %lo20, %ls21
  %lq18 = extractvalue {i1, i1} %lr18, 1
  %lz22 = zext i1 %lq18 to i64
  %ls22 = shl i64 %lz22, 22
  %lo22 = or i64 %lo21, %ls22
  %lr19 = call {i1, i1} @llvm.umul.with.overflow.i1(i1 %la, i1 %lb)
  %lp19 = extractvalue {i1, i1} %lr19, 0
  %lz23 = zext i1 %lp19 to i64
  %ls23 = shl i64 %lz23, 23
  %lo23 = or i64 %lo22, %ls23
  %lq19 = extractvalue {i1, i1} %lr19, 1
  %lz24 = zext i1 %lq19 to i64
  %ls24 = shl i64 %lz24, 24
  %lo24 = or i64 %lo23, %ls24
  %lr20 = call {i1, i1} @llvm.smul.with.overflow.i1(i1 %la, i1 %lb)
  %lp20 = extractvalue {i1, i1} %lr20, 0
  %lz25 = zext i1 %lp20 to i64
  %ls25 = shl i64 %lz25, 25
  %lo25 = or i64 %lo24, %ls25
  %lq20 = extractvalue {i1, i1} %lr20, 1
  %lz26 = zext i1 %lq20 to i64
  %ls26 = shl i64 %lz26, 26
  %lo26 = or i64 %lo25, %ls26
  %lr21 = shl i1 %la, %lzero
  %lz27 = zext i1 %lr21 to i64
  %ls27 = shl i64 %lz27, 27
  %lo27 = or i64 %lo26, %ls27
  %lr22 = lshr i1 %la, %lzero
  %lz28 = zext i1 %lr22 to i64
  %ls28 = shl i64 %lz28, 28
  %lo28 = or i64 %lo27, %ls28
  %lr23 = ashr i1 %la, %lzero
  %lz29 = zext i1 %lr23 to i64
  %ls29 = shl i64 %lz29, 29
  %lo29 = or i64 %lo28, %ls29
  %lr24 = udiv i1 %la, %lone
  %lz30 = zext i1 %lr24 to i64
  %ls30 = shl i64 %lz30, 30
  %lo30 = or i64 %lo29, %ls30
  %lr25 = urem i1 %la, %lone
  %lz31 = zext i1 %lr25 to i64
  %ls31 = shl i64 %lz31, 31
  %lo31 = or i64 %lo30, %ls31
  %lr26 = srem i1 %lb, %lone
  %lz32 = zext i1 %lr26 to i64
  %ls32 = shl i64 %lz32, 32
  %lo32 = or i64 %lo31, %ls32
  %lr27 = call i1 @llvm.vector.reduce.smin.v3i1(<3 x i1> %lv)
  %lz33 = zext i1 %lr27 to i64
  %ls33 = shl i64 %lz33, 33
  %lo33 = or i64 %lo32, %ls33
  %lr28 = call i1 @llvm.vector.reduce.umax.v3i1(<3 x i1> %lv)
  %lz34 = zext i1 %lr28 to i64
  %ls34 = shl i64 %lz34, 34
  %lo34 = or i64 %lo33, %ls34
  %lr29 = call i1 @llvm.vector.reduce.smax.v3i1(<3 x i1> %lv)
  %lz35 = zext i1 %lr29 to i64
  %ls35 = shl i64 %lz35, 35
  %lo35 = or i64 %lo34, %ls35
  %lr30 = call i1 @llvm.vector.reduce.umin.v3i1(<3 x i1> %lv)
  %lz36 = zext i1 %lr30 to i64
  %ls36 = shl i64 %lz36, 36
  %lo36 = or i64 %lo35, %ls36
  %ua = trunc i32 %u to i1
  %uw1 = lshr i32 %u, 1
  %ub = trunc i32 %uw1 to i1
  %uw2 = lshr i32 %u, 2
  %uone = trunc i32 %uw2 to i1
  %uw3 = lshr i32 %u, 3
  %uzero = trunc i32 %uw3 to i1
  %uv0 = insertelement <3 x i1> poison, i1 %ua, i32 0
  %uv1 = insertelement <3 x i1> %uv0, i1 %ub, i32 1
  %uv = insertelement <3 x i1> %uv1, i1 %uone, i32 2
  %ur0 = call i1 @llvm.abs.i1(i1 %ua, i1 false)
  %uz0 = zext i1 %ur0 to i64
  %us0 = shl i64 %uz0, 0
  %uo0 = or i64 0, %us0
  %ur1 = call i1 @llvm.smin.i1(i1 %ua, i1 %ub)
  %uz1 = zext i1 %ur1 to i64
  %us1 = shl i64 %uz1, 1
  %uo1 = or i64 %uo0, %us1
  %ur2 = call i1 @llvm.smax.i1(i1 %ua, i1 %ub)
  %uz2 = zext i1 %ur2 to i64
  %us2 = shl i64 %uz2, 2
  %uo2 = or i64 %uo1, %us2
  %ur3 = call i1 @llvm.umin.i1(i1 %ua, i1 %ub)
  %uz3 = zext i1 %ur3 to i64
  %us3 = shl i64 %uz3, 3
  %uo3 = or i64 %uo2, %us3
  %ur4 = call i1 @llvm.umax.i1(i1 %ua, i1 %ub)
  %uz4 = zext i1 %ur4 to i64
  %us4 = shl i64 %uz4, 4
  %uo4 = or i64 %uo3, %us4
  %ur5 = call i1 @llvm.sadd.sat.i1(i1 %ua, i1 %ub)
  %uz5 = zext i1 %ur5 to i64
  %us5 = shl i64 %uz5, 5
  %uo5 = or i64 %uo4, %us5
  %ur6 = call i1 @llvm.uadd.sat.i1(i1 %ua, i1 %ub)
  %uz6 = zext i1 %ur6 to i64
  %us6 = shl i64 %uz6, 6
  %uo6 = or i64 %uo5, %us6
  %ur7 = call i1 @llvm.ssub.sat.i1(i1 %ua, i1 %ub)
  %uz7 = zext i1 %ur7 to i64
  %us7 = shl i64 %uz7, 7
  %uo7 = or i64 %uo6, %us7
  %ur8 = call i1 @llvm.usub.sat.i1(i1 %ua, i1 %ub)
  %uz8 = zext i1 %ur8 to i64
  %us8 = shl i64 %uz8, 8
  %uo8 = or i64 %uo7, %us8
  %ur9 = call i1 @llvm.ctpop.i1(i1 %ua)
  %uz9 = zext i1 %ur9 to i64
  %us9 = shl i64 %uz9, 9
  %uo9 = or i64 %uo8, %us9
  %ur10 = call i1 @llvm.ctlz.i1(i1 %ua, i1 false)
  %uz10 = zext i1 %ur10 to i64
  %us10 = shl i64 %uz10, 10
  %uo10 = or i64 %uo9, %us10
  %ur11 = call i1 @llvm.cttz.i1(i1 %ub, i1 false)
  %uz11 = zext i1 %ur11 to i64
  %us11 = shl i64 %uz11, 11
  %uo11 = or i64 %uo10, %us11
  %ur12 = call i1 @llvm.bitreverse.i1(i1 %ua)
  %uz12 = zext i1 %ur12 to i64
  %us12 = shl i64 %uz12, 12
  %uo12 = or i64 %uo11, %us12
  %ur13 = call i1 @llvm.fshl.i1(i1 %ua, i1 %ub, i1 %uone)
  %uz13 = zext i1 %ur13 to i64
  %us13 = shl i64 %uz13, 13
  %uo13 = or i64 %uo12, %us13
  %ur14 = call i1 @llvm.fshr.i1(i1 %ua, i1 %ub, i1 %uone)
  %uz14 = zext i1 %ur14 to i64
  %us14 = shl i64 %uz14, 14
  %uo14 = or i64 %uo13, %us14
  %ur15 = call {i1, i1} @llvm.sadd.with.overflow.i1(i1 %ua, i1 %ub)
  %up15 = extractvalue {i1, i1} %ur15, 0
  %uz15 = zext i1 %up15 to i64
  %us15 = shl i64 %uz15, 15
  %uo15 = or i64 %uo14, %us15
  %uq15 = extractvalue {i1, i1} %ur15, 1
  %uz16 = zext i1 %uq15 to i64
  %us16 = shl i64 %uz16, 16
  %uo16 = or i64 %uo15, %us16
  %ur16 = call {i1, i1} @llvm.uadd.with.overflow.i1(i1 %ua, i1 %ub)
  %up16 = extractvalue {i1, i1} %ur16, 0
  %uz17 = zext i1 %up16 to i64
  %us17 = shl i64 %uz17, 17
  %uo17 = or i64 %uo16, %us17
  %uq16 = extractvalue {i1, i1} %ur16, 1
  %uz18 = zext i1 %uq16 to i64
  %us18 = shl i64 %uz18, 18
  %uo18 = or i64 %uo17, %us18
  %ur17 = call {i1, i1} @llvm.ssub.with.overflow.i1(i1 %ua, i1 %ub)
  %up17 = extractvalue {i1, i1} %ur17, 0
  %uz19 = zext i1 %up17 to i64
  %us19 = shl i64 %uz19, 19
  %uo19 = or i64 %uo18, %us19
  %uq17 = extractvalue {i1, i1} %ur17, 1
  %uz20 = zext i1 %uq17 to i64
  %us20 = shl i64 %uz20, 20
  %uo20 = or i64 %uo19, %us20
  %ur18 = call {i1, i1} @llvm.usub.with.overflow.i1(i1 %ua, i1 %ub)
  %up18 = extractvalue {i1, i1} %ur18, 0
  %uz21 = zext i1 %up18 to i64
  %us21 = shl i64 %uz21, 21
  %uo21 = or i64 %uo20, %us21
  %uq18 = extractvalue {i1, i1} %ur18, 1
  %uz22 = zext i1 %uq18 to i64
  %us22 = shl i64 %uz22, 22
  %uo22 = or i64 %uo21, %us22
  %ur19 = call {i1, i1} @llvm.umul.with.overflow.i1(i1 %ua, i1 %ub)
  %up19 = extractvalue {i1, i1} %ur19, 0
  %uz23 = zext i1 %up19 to i64
  %us23 = shl i64 %uz23, 23
  %uo23 = or i64 %uo22, %us23
  %uq19 = extractvalue {i1, i1} %ur19, 1
  %uz24 = zext i1 %uq19 to i64
  %us24 = shl i64 %uz24, 24
  %uo24 = or i64 %uo23, %us24
  %ur20 = call {i1, i1} @llvm.smul.with.overflow.i1(i1 %ua, i1 %ub)
  %up20 = extractvalue {i1, i1} %ur20, 0
  %uz25 = zext i1 %up20 to i64
  %us25 = shl i64 %uz25, 25
  %uo25 = or i64 %uo24, %us25
  %uq20 = extractvalue {i1, i1} %ur20, 1
  %uz26 = zext i1 %uq20 to i64
  %us26 = shl i64 %uz26, 26
  %uo26 = or i64 %uo25, %us26
  %ur21 = shl i1 %ua, %uzero
  %uz27 = zext i1 %ur21 to i64
  %us27 = shl i64 %uz27, 27
  %uo27 = or i64 %uo26, %us27
  %ur22 = lshr i1 %ua, %uzero
  %uz28 = zext i1 %ur22 to i64
  %us28 = shl i64 %uz28, 28
  %uo28 = or i64 %uo27, %us28
  %ur23 = ashr i1 %ua, %uzero
  %uz29 = zext i1 %ur23 to i64
  %us29 = shl i64 %uz29, 29
  %uo29 = or i64 %uo28, %us29
  %ur24 = udiv i1 %ua, %uone
  %uz30 = zext i1 %ur24 to i64
  %us30 = shl i64 %uz30, 30
  %uo30 = or i64 %uo29, %us30
  %ur25 = urem i1 %ua, %uone
  %uz31 = zext i1 %ur25 to i64
  %us31 = shl i64 %uz31, 31
  %uo31 = or i64 %uo30, %us31
  %ur26 = srem i1 %ub, %uone
  %uz32 = zext i1 %ur26 to i64
  %us32 = shl i64 %uz32, 32
  %uo32 = or i64 %uo31, %us32
  %ur27 = call i1 @llvm.vector.reduce.smin.v3i1(<3 x i1> %uv)
  %uz33 = zext i1 %ur27 to i64
  %us33 = shl i64 %uz33, 33
  %uo33 = or i64 %uo32, %us33
  %ur28 = call i1 @llvm.vector.reduce.umax.v3i1(<3 x i1> %uv)
  %uz34 = zext i1 %ur28 to i64
  %us34 = shl i64 %uz34, 34
  %uo34 = or i64 %uo33, %us34
  %ur29 = call i1 @llvm.vector.reduce.smax.v3i1(<3 x i1> %uv)
  %uz35 = zext i1 %ur29 to i64
  %us35 = shl i64 %uz35, 35
  %uo35 = or i64 %uo34, %us35
  %ur30 = call i1 @llvm.vector.reduce.umin.v3i1(<3 x i1> %uv)
  %uz36 = zext i1 %ur30 to i64
  %us36 = shl i64 %uz36, 36
  %uo36 = or i64 %uo35, %us36
  %p = getelementptr [2 x i64], ptr addrspace(1) %out, i64 %i
  store i64 %lo36, ptr addrspace(1) %p
  %q = getelementptr i64, ptr addrspace(1) %p, i64 1
  store i64 %uo36, ptr addrspace(1) %q
  ret void
}
declare i64 @_Z13get_global_idj(i32)
declare i1 @llvm.abs.i1(i1, i1)
declare i1 @llvm.bitreverse.i1(i1)
declare i1 @llvm.ctlz.i1(i1, i1)
declare i1 @llvm.ctpop.i1(i1)
declare i1 @llvm.cttz.i1(i1, i1)
declare i1 @llvm.fshl.i1(i1, i1, i1)
declare i1 @llvm.fshr.i1(i1, i1, i1)
declare i1 @llvm.sadd.sat.i1(i1, i1)
declare i1 @llvm.smax.i1(i1, i1)
declare i1 @llvm.smin.i1(i1, i1)
declare i1 @llvm.ssub.sat.i1(i1, i1)
declare i1 @llvm.uadd.sat.i1(i1, i1)
declare i1 @llvm.umax.i1(i1, i1)
declare i1 @llvm.umin.i1(i1, i1)
declare i1 @llvm.usub.sat.i1(i1, i1)
declare i1 @llvm.vector.reduce.smax.v3i1(<3 x i1>)
declare i1 @llvm.vector.reduce.smin.v3i1(<3 x i1>)
declare i1 @llvm.vector.reduce.umax.v3i1(<3 x i1>)
declare i1 @llvm.vector.reduce.umin.v3i1(<3 x i1>)
declare {i1, i1} @llvm.sadd.with.overflow.i1(i1, i1)
declare {i1, i1} @llvm.smul.with.overflow.i1(i1, i1)
declare {i1, i1} @llvm.ssub.with.overflow.i1(i1, i1)
declare {i1, i1} @llvm.uadd.with.overflow.i1(i1, i1)
declare {i1, i1} @llvm.umul.with.overflow.i1(i1, i1)
declare {i1, i1} @llvm.usub.with.overflow.i1(i1, i1)
