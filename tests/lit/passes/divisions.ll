; A divisor that may be 0 is 1 then; behind all passes the machine does that by itself, and the comparison goes with its last reader.
; RUN: %heddle opt --passes=define-divisions %s -o - | FileCheck %s --check-prefix=DEFINED
; RUN: %heddle opt --passes='define-divisions,trust-divisions' %s -o - | FileCheck %s --check-prefix=BACK
; RUN: %heddle opt --passes='define-divisions,function(instcombine),trust-divisions' %s -o - | FileCheck %s --check-prefix=AMONG
target triple = "nvptx64--"

; DEFINED-LABEL: @either(
; DEFINED: %[[ZERO:.*]] = icmp eq i32 %d, 0
; DEFINED: %[[D:.*]] = select i1 %[[ZERO]], i32 1, i32 %d
; DEFINED: sdiv i32 %n, %[[D]]
; DEFINED: %[[ZERO:.*]] = icmp eq i32 %d, 0
; DEFINED: %[[D:.*]] = select i1 %[[ZERO]], i32 1, i32 %d
; DEFINED: urem i32 %n, %[[D]]
; BACK-LABEL: @either(
; BACK-NEXT: %q = sdiv i32 %n, %d
; BACK-NEXT: %r = urem i32 %n, %d
; BACK-NEXT: %zero = icmp eq i32 %d, 0
; BACK-NEXT: %s = add i32 %q, %r
; BACK-NEXT: %x = select i1 %zero, i32 -77, i32 %s
; AMONG-LABEL: @either(
; AMONG-NOT: umax
; AMONG: sdiv i32 %n, %d
; AMONG: urem i32 %n, %d
; AMONG: select i1 %zero, i32 -77
define i32 @either(i32 %n, i32 %d) {
  %q = sdiv i32 %n, %d
  %r = urem i32 %n, %d
  %zero = icmp eq i32 %d, 0
  %s = add i32 %q, %r
  %x = select i1 %zero, i32 -77, i32 %s
  ret i32 %x
}

; A remainder that LLVM has made of the quotient needs the divisor that the quotient had.
; BACK-LABEL: @both(
; BACK: %frozen = freeze i32 %d
; BACK: %g = {{.*}}umax.i32(i32 %frozen, i32 1)
; BACK: %q = udiv i32 %n, %frozen
; BACK: %m = mul i32 %q, %g
define i32 @both(i32 %n, i32 %d) {
  %frozen = freeze i32 %d
  %g = call i32 @llvm.umax.i32(i32 %frozen, i32 1)
  %also = freeze i32 %g
  %q = udiv i32 %n, %also
  %m = mul i32 %q, %g
  %r = sub i32 %n, %m
  %x = xor i32 %q, %r
  ret i32 %x
}

; Constants that are not 0 stay; -1 negates, and 0 is none.
; DEFINED-LABEL: @constants(
; DEFINED-NEXT: sdiv i64 %n, 7
; DEFINED-NEXT: %[[MINUS:.*]] = sub i64 0, %n
; DEFINED-NEXT: sdiv i64 %n, 1
; DEFINED-NEXT: udiv i64 %n, -1
; DEFINED-NEXT: add i64 %{{.*}}, %[[MINUS]]
; DEFINED: add i64 %{{.*}}, 0
define i64 @constants(i64 %n) {
  %a = sdiv i64 %n, 7
  %b = sdiv i64 %n, -1
  %c = sdiv i64 %n, 0
  %d = udiv i64 %n, -1
  %e = srem i64 %n, -1
  %x = add i64 %a, %b
  %y = add i64 %c, %d
  %z = add i64 %x, %e
  %w = add i64 %y, %z
  %v = add i64 %w, poison
  ret i64 %v
}

; Narrow divisors that LLVM has made wide, and vectors.
; BACK-LABEL: @narrow(
; BACK: %[[D:.*]] = zext i8 %d to i32
; BACK: udiv i32 %n, %[[D]]
; BACK-NOT: umax
; BACK: ret i32
define i32 @narrow(i32 %n, i8 %d) {
  %g = call i8 @llvm.umax.i8(i8 %d, i8 1)
  %w = zext i8 %g to i32
  %q = udiv i32 %n, %w
  ret i32 %q
}

; DEFINED-LABEL: @vectors(
; DEFINED: select <2 x i1> %{{.*}}, <2 x i32> <i32 1, i32 1>, <2 x i32> %d
; DEFINED: sdiv <2 x i32> %q, <i32 3, i32 -5>
; BACK-LABEL: @vectors(
; BACK-NEXT: sdiv <2 x i32> %n, %d
define <2 x i32> @vectors(<2 x i32> %n, <2 x i32> %d) {
  %q = sdiv <2 x i32> %n, %d
  %r = sdiv <2 x i32> %q, <i32 3, i32 -5>
  ret <2 x i32> %r
}

; Vectors of a length that is not known stay.
; DEFINED-LABEL: @scalable(
; DEFINED-NEXT: sdiv <vscale x 2 x i32> %n, %d
define <vscale x 2 x i32> @scalable(<vscale x 2 x i32> %n, <vscale x 2 x i32> %d) {
  %q = sdiv <vscale x 2 x i32> %n, %d
  ret <vscale x 2 x i32> %q
}

; A bit whose sign is extended is no 1.
; BACK-LABEL: @bit(
; BACK: sdiv i32 %n, %w
define i32 @bit(i32 %n, i1 %d) {
  %c = icmp eq i1 %d, false
  %g = select i1 %c, i1 1, i1 %d
  %w = sext i1 %g to i32
  %q = sdiv i32 %n, %w
  ret i32 %q
}

; What else chooses 1 is no such divisor.
; BACK-LABEL: @other(
; BACK: %g = select i1 %c, i32 1, i32 %d
; BACK: %h = select i1 %z, i32 %d, i32 1
; BACK: udiv i32 %n, %g
; BACK: udiv i32 %n, %h
define i32 @other(i32 %n, i32 %d, i1 %c) {
  %g = select i1 %c, i32 1, i32 %d
  %z = icmp eq i32 %d, 0
  %h = select i1 %z, i32 %d, i32 1
  %p = udiv i32 %n, %g
  %q = udiv i32 %n, %h
  %x = add i32 %p, %q
  ret i32 %x
}

; A divisor that is 0 where two conditions hold, and one that is 0 with one of its factors.
; BACK-LABEL: @reasons(
; BACK: udiv i32 %n, %d
; BACK: udiv i32 %n, %e
define i32 @reasons(i32 %n, i32 %a, i32 %b, i1 %c) {
  %d = sub i32 %a, %b
  %e = mul i32 %a, %b
  %equal = icmp eq i32 %a, %b
  %none = icmp ult i32 %b, 1
  %either = and i1 %equal, %c
  %g = select i1 %either, i32 1, i32 %d
  %p = udiv i32 %n, %g
  %h = select i1 %none, i32 1, i32 %e
  %q = udiv i32 %n, %h
  %x = add i32 %p, %q
  ret i32 %x
}

; Halves are 0 below 2, and not below 3.
; BACK-LABEL: @halves(
; BACK: udiv i32 %n, %d
; BACK: udiv i32 %n, %h
define i32 @halves(i32 %n, i32 %a) {
  %d = lshr i32 %a, 1
  %more = icmp ugt i32 %a, 1
  %g = select i1 %more, i32 %d, i32 1
  %p = udiv i32 %n, %g
  %three = icmp ult i32 %a, 3
  %h = select i1 %three, i32 1, i32 %d
  %q = udiv i32 %n, %h
  %x = add i32 %p, %q
  ret i32 %x
}

declare i8 @llvm.umax.i8(i8, i8)
declare i32 @llvm.umax.i32(i32, i32)
