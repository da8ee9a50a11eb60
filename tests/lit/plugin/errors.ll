; What the plug-in refuses, with LLVM's own messages around it.
; RUN: not opt -load-pass-plugin=%plugin -passes='heddle-uniformity<warp-size=33>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=VALUE
; VALUE: error: pass `heddle-uniformity` has no parameter `warp-size=33`; parameters are warp-size=8|16|32|64, surface-components=1|2|3|4, rows-fill-warps=0|1, max-work-group-size=N, short-ids=0|1, unaligned-vectors=0|1, separated by `;`
; RUN: not opt -load-pass-plugin=%plugin -passes='print<heddle-cache-hints><speed=1>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PARAMETER
; PARAMETER: error: pass `print<heddle-cache-hints>` has no parameter `speed=1`
; RUN: not opt -load-pass-plugin=%plugin -passes=heddle-nonsense -disable-output %s 2>&1 | FileCheck %s --check-prefix=NAME
; NAME: unknown pass name 'heddle-nonsense'
; A pass without the prefix is LLVM's, or none.
; RUN: not opt -load-pass-plugin=%plugin -passes=cache-hints -disable-output %s 2>&1 | FileCheck %s --check-prefix=PREFIX
; PREFIX: unknown pass name 'cache-hints'
; RUN: not opt -load-pass-plugin=%plugin -passes='heddle-uniformity(lcssa)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NESTED
; NESTED: invalid use of 'heddle-uniformity' pass as module pipeline
; Not in LCSSA form; with LLVM's pass before, it is.
; RUN: not opt -load-pass-plugin=%plugin -passes=heddle-uniformity -disable-output %s 2>&1 | FileCheck %s --check-prefix=FORM
; FORM: error: @k is not in LCSSA form: `%i = phi i32 [ 0, %entry ], [ %next, %loop ]` is used outside its loop; run `function(loop-simplify,lcssa)` or `heddle-prepare` first
; RUN: opt -load-pass-plugin=%plugin -passes='function(lcssa),heddle-uniformity' -disable-output %s
; RUN: opt -load-pass-plugin=%plugin -passes='heddle-prepare,heddle-uniformity' -disable-output %s
; At the end of LLVM's pipeline the plug-in sees to the form itself; a wrong list of passes is an error there.
; RUN: opt -load-pass-plugin=%plugin -passes='default<O1>' -S %s | FileCheck %s --check-prefix=END
; END: !heddle.uniformity
; RUN: not opt -load-pass-plugin=%plugin -heddle-passes=nonsense -passes='default<O1>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=LIST
; LIST: error: -heddle-passes=nonsense: unknown pass name 'nonsense'

define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, %n
  %more = icmp slt i32 %next, 1000
  br i1 %more, label %loop, label %done
done:
  store i32 %i, ptr addrspace(1) %p
  ret void
}
