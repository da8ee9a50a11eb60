; Saturating sums and differences, and funnel shifts, of widths that the machine has not: 31 bits, whose unsigned sum is
; negative as a word, and 40. The expected values are Python's.
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg out=zeros:int64:4x10,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w80 -td8 -j128 %t.npy | tr -s ' ' | FileCheck %s
; CHECK: 2147483643 1 1073741823 1 1099511627771 1 549755813887 1 1099511627727 1047972020223
; CHECK-NEXT: 2147483647 1073741823 -1073741824 1073741823 1099511627775 549755813887 -549755813888 549755813887 1099511627648 1097364144128
; CHECK-NEXT: 2147483647 0 -1073741824 -3 1099511627775 0 -549755813888 -3 1024 268435456
; CHECK-NEXT: 1073741831 0 -1073741817 1073741819 549755813895 0 -549755813881 549755813883 24576 100663296
target triple = "nvptx64--"
declare i64 @_Z13get_global_idj(i32)
declare i31 @llvm.uadd.sat.i31(i31, i31)
declare i31 @llvm.usub.sat.i31(i31, i31)
declare i31 @llvm.sadd.sat.i31(i31, i31)
declare i31 @llvm.ssub.sat.i31(i31, i31)
declare i40 @llvm.uadd.sat.i40(i40, i40)
declare i40 @llvm.usub.sat.i40(i40, i40)
declare i40 @llvm.sadd.sat.i40(i40, i40)
declare i40 @llvm.ssub.sat.i40(i40, i40)
declare i40 @llvm.fshl.i40(i40, i40, i40)
declare i40 @llvm.fshr.i40(i40, i40, i40)
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %ma31 = mul i64 %i, 1073741825
  %sa31 = add i64 %ma31, 1073741822
  %a31 = trunc i64 %sa31 to i31
  %mb31 = mul i64 %i, 3
  %sb31 = add i64 %mb31, 1073741821
  %b31 = trunc i64 %sb31 to i31
  %ma40 = mul i64 %i, 549755813889
  %sa40 = add i64 %ma40, 549755813886
  %a40 = trunc i64 %sa40 to i40
  %mb40 = mul i64 %i, 3
  %sb40 = add i64 %mb40, 549755813885
  %b40 = trunc i64 %sb40 to i40
  %x0 = call i31 @llvm.uadd.sat.i31(i31 %a31, i31 %b31)
  %y0 = zext i31 %x0 to i64
  %p0 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 0
  store i64 %y0, ptr addrspace(1) %p0
  %x1 = call i31 @llvm.usub.sat.i31(i31 %a31, i31 %b31)
  %y1 = zext i31 %x1 to i64
  %p1 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 1
  store i64 %y1, ptr addrspace(1) %p1
  %x2 = call i31 @llvm.sadd.sat.i31(i31 %a31, i31 %b31)
  %y2 = sext i31 %x2 to i64
  %p2 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 2
  store i64 %y2, ptr addrspace(1) %p2
  %x3 = call i31 @llvm.ssub.sat.i31(i31 %a31, i31 %b31)
  %y3 = sext i31 %x3 to i64
  %p3 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 3
  store i64 %y3, ptr addrspace(1) %p3
  %x4 = call i40 @llvm.uadd.sat.i40(i40 %a40, i40 %b40)
  %y4 = zext i40 %x4 to i64
  %p4 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 4
  store i64 %y4, ptr addrspace(1) %p4
  %x5 = call i40 @llvm.usub.sat.i40(i40 %a40, i40 %b40)
  %y5 = zext i40 %x5 to i64
  %p5 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 5
  store i64 %y5, ptr addrspace(1) %p5
  %x6 = call i40 @llvm.sadd.sat.i40(i40 %a40, i40 %b40)
  %y6 = sext i40 %x6 to i64
  %p6 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 6
  store i64 %y6, ptr addrspace(1) %p6
  %x7 = call i40 @llvm.ssub.sat.i40(i40 %a40, i40 %b40)
  %y7 = sext i40 %x7 to i64
  %p7 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 7
  store i64 %y7, ptr addrspace(1) %p7
  %x8 = call i40 @llvm.fshl.i40(i40 %a40, i40 %b40, i40 %b40)
  %y8 = zext i40 %x8 to i64
  %p8 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 8
  store i64 %y8, ptr addrspace(1) %p8
  %x9 = call i40 @llvm.fshr.i40(i40 %a40, i40 %b40, i40 %b40)
  %y9 = zext i40 %x9 to i64
  %p9 = getelementptr [10 x i64], ptr addrspace(1) %out, i64 %i, i64 9
  store i64 %y9, ptr addrspace(1) %p9
  ret void
}
