; Shifts of 128 bits by numbers that are not known: with 32 lanes by 4 i + 3, beyond a word and within one, and by whole words.
; Each row is the low and the high half of the number shifted right with zeros, right with its sign, and left.
; RUN: %heddle run %s --kernel k --global 32 --local 32 --arg i64=-1071399163193774865 --arg i64=1147797409030816545 \
; RUN:   --arg i32=4 --arg i32=3 --arg b=zeros:int64:32x6,save=%t.npy --mode timing --check=all --verify
; RUN: od -An -v -w48 -tx8 -j128 %t.npy | FileCheck %s
; RUN: %heddle run %s --kernel k --global 3 --local 3 --arg i64=-1071399163193774865 --arg i64=1147797409030816545 \
; RUN:   --arg i32=64 --arg i32=0 --arg b=zeros:int64:3x6,save=%t.whole.npy --mode functional --check=all --verify
; RUN: od -An -v -w48 -tx8 -j128 %t.whole.npy | FileCheck %s --check-prefix=WHOLE
; CHECK: e1fdb97530eca864 1e2434046725e59d e1fdb97530eca864 fe2434046725e59d 7f6e5d4c3b2a1908 890d0119c9796778
; CHECK-NEXT: de1fdb97530eca86 01e2434046725e59 de1fdb97530eca86 ffe2434046725e59 f6e5d4c3b2a19080 90d0119c97967787
; CHECK-NEXT: 9de1fdb97530eca8 001e2434046725e5 9de1fdb97530eca8 fffe2434046725e5 6e5d4c3b2a190800 0d0119c97967787f
; CHECK-NEXT: 59de1fdb97530eca 0001e2434046725e 59de1fdb97530eca ffffe2434046725e e5d4c3b2a1908000 d0119c97967787f6
; CHECK-NEXT: e59de1fdb97530ec 00001e2434046725 e59de1fdb97530ec fffffe2434046725 5d4c3b2a19080000 0119c97967787f6e
; CHECK-NEXT: 5e59de1fdb97530e 000001e243404672 5e59de1fdb97530e ffffffe243404672 d4c3b2a190800000 119c97967787f6e5
; CHECK-NEXT: 25e59de1fdb97530 0000001e24340467 25e59de1fdb97530 fffffffe24340467 4c3b2a1908000000 19c97967787f6e5d
; CHECK-NEXT: 725e59de1fdb9753 00000001e2434046 725e59de1fdb9753 ffffffffe2434046 c3b2a19080000000 9c97967787f6e5d4
; CHECK-NEXT: 6725e59de1fdb975 000000001e243404 6725e59de1fdb975 fffffffffe243404 3b2a190800000000 c97967787f6e5d4c
; CHECK-NEXT: 46725e59de1fdb97 0000000001e24340 46725e59de1fdb97 ffffffffffe24340 b2a1908000000000 97967787f6e5d4c3
; CHECK-NEXT: 046725e59de1fdb9 00000000001e2434 046725e59de1fdb9 fffffffffffe2434 2a19080000000000 7967787f6e5d4c3b
; CHECK-NEXT: 4046725e59de1fdb 000000000001e243 4046725e59de1fdb ffffffffffffe243 a190800000000000 967787f6e5d4c3b2
; CHECK-NEXT: 34046725e59de1fd 0000000000001e24 34046725e59de1fd fffffffffffffe24 1908000000000000 67787f6e5d4c3b2a
; CHECK-NEXT: 434046725e59de1f 00000000000001e2 434046725e59de1f ffffffffffffffe2 9080000000000000 7787f6e5d4c3b2a1
; CHECK-NEXT: 2434046725e59de1 000000000000001e 2434046725e59de1 fffffffffffffffe 0800000000000000 787f6e5d4c3b2a19
; CHECK-NEXT: e2434046725e59de 0000000000000001 e2434046725e59de ffffffffffffffff 8000000000000000 87f6e5d4c3b2a190
; CHECK-NEXT: 1e2434046725e59d 0000000000000000 fe2434046725e59d ffffffffffffffff 0000000000000000 7f6e5d4c3b2a1908
; CHECK-NEXT: 01e2434046725e59 0000000000000000 ffe2434046725e59 ffffffffffffffff 0000000000000000 f6e5d4c3b2a19080
; CHECK-NEXT: 001e2434046725e5 0000000000000000 fffe2434046725e5 ffffffffffffffff 0000000000000000 6e5d4c3b2a190800
; CHECK-NEXT: 0001e2434046725e 0000000000000000 ffffe2434046725e ffffffffffffffff 0000000000000000 e5d4c3b2a1908000
; CHECK-NEXT: 00001e2434046725 0000000000000000 fffffe2434046725 ffffffffffffffff 0000000000000000 5d4c3b2a19080000
; CHECK-NEXT: 000001e243404672 0000000000000000 ffffffe243404672 ffffffffffffffff 0000000000000000 d4c3b2a190800000
; CHECK-NEXT: 0000001e24340467 0000000000000000 fffffffe24340467 ffffffffffffffff 0000000000000000 4c3b2a1908000000
; CHECK-NEXT: 00000001e2434046 0000000000000000 ffffffffe2434046 ffffffffffffffff 0000000000000000 c3b2a19080000000
; CHECK-NEXT: 000000001e243404 0000000000000000 fffffffffe243404 ffffffffffffffff 0000000000000000 3b2a190800000000
; CHECK-NEXT: 0000000001e24340 0000000000000000 ffffffffffe24340 ffffffffffffffff 0000000000000000 b2a1908000000000
; CHECK-NEXT: 00000000001e2434 0000000000000000 fffffffffffe2434 ffffffffffffffff 0000000000000000 2a19080000000000
; CHECK-NEXT: 000000000001e243 0000000000000000 ffffffffffffe243 ffffffffffffffff 0000000000000000 a190800000000000
; CHECK-NEXT: 0000000000001e24 0000000000000000 fffffffffffffe24 ffffffffffffffff 0000000000000000 1908000000000000
; CHECK-NEXT: 00000000000001e2 0000000000000000 ffffffffffffffe2 ffffffffffffffff 0000000000000000 9080000000000000
; CHECK-NEXT: 000000000000001e 0000000000000000 fffffffffffffffe ffffffffffffffff 0000000000000000 0800000000000000
; CHECK-NEXT: 0000000000000001 0000000000000000 ffffffffffffffff ffffffffffffffff 0000000000000000 8000000000000000
; WHOLE: 0fedcba987654321 f121a023392f2cef 0fedcba987654321 f121a023392f2cef 0fedcba987654321 f121a023392f2cef
; WHOLE-NEXT: f121a023392f2cef 0000000000000000 f121a023392f2cef ffffffffffffffff 0000000000000000 0fedcba987654321
; WHOLE-NEXT: 0fedcba987654321 f121a023392f2cef 0fedcba987654321 f121a023392f2cef 0fedcba987654321 f121a023392f2cef
target triple = "nvptx64--"
define spir_kernel void @k(i64 %high, i64 %low, i32 %factor, i32 %term, ptr addrspace(1) %b) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %lane = trunc i64 %i to i32
  %product = mul i32 %lane, %factor
  %sum = add i32 %product, %term
  %whole = zext i32 %sum to i128
  %amount = and i128 %whole, 127
  %h = zext i64 %high to i128
  %up = shl i128 %h, 64
  %l = zext i64 %low to i128
  %x = or i128 %up, %l
  %zeros = lshr i128 %x, %amount
  %signs = ashr i128 %x, %amount
  %left = shl i128 %x, %amount
  %p = getelementptr [3 x i128], ptr addrspace(1) %b, i64 %i
  store i128 %zeros, ptr addrspace(1) %p, align 8
  %q = getelementptr i8, ptr addrspace(1) %p, i64 16
  store i128 %signs, ptr addrspace(1) %q, align 8
  %r = getelementptr i8, ptr addrspace(1) %p, i64 32
  store i128 %left, ptr addrspace(1) %r, align 8
  ret void
}
declare i64 @_Z13get_global_idj(i32)
