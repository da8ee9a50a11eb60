; S4: a value that leaves a loop without a phi would hide that lanes leave in different iterations. Such functions are refused, by any of the passes.
; RUN: not %heddle opt --passes='print<uniformity>' --disable-output %s 2>&1 | FileCheck %s --check-prefix=REFUSED
; RUN: not %heddle opt --passes=cache-hints --disable-output %s 2>&1 | FileCheck %s --check-prefix=REFUSED
; RUN: %heddle opt --passes='function(lcssa),print<uniformity>' --disable-output %s | FileCheck %s
; REFUSED: error: @k is not in LCSSA form: `%i = phi i32 [ 0, %entry ], [ %next, %loop ]` is used outside its loop; run `function(loop-simplify,lcssa)` or `heddle-prepare` first
; CHECK: varying (leaves a loop with a divergent exit, branch in loop): %i.lcssa = phi

declare i64 @_Z12get_local_idj(i32)

define spir_kernel void @k(ptr addrspace(1) %p) {
entry:
  %id = call i64 @_Z12get_local_idj(i32 0)
  %low = trunc i64 %id to i32
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %low
  br i1 %more, label %loop, label %done
done:
  store i32 %i, ptr addrspace(1) %p
  ret void
}
