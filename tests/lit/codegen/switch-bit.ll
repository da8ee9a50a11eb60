; A switch on an i1 has a predicate for its condition. Clang makes one of a switch on a Boolean at -O0. Found by a random program.
; RUN: %heddle run %s --kernel k --global 4 --local 4 --arg b=random:int32:4,low=0,high=2 --arg b2=zeros:int32:4 --mode timing --check=all --verify
; RUN: %heddle build %s --emit mir --stop-after select -o - | FileCheck %s
; CHECK: cmp.{{ne|eq}}.b32 [[P:%[0-9]+]]
; CHECK: sel.b32 [[V:%[0-9]+]], [[P]], 1
; CHECK: and.b32 {{%[0-9]+}}, [[V]], 1
target triple = "nvptx64--"
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr i32, ptr addrspace(1) %a, i64 %i
  %v = load i32, ptr addrspace(1) %p
  %c = icmp ne i32 %v, 0
  %q = getelementptr i32, ptr addrspace(1) %b, i64 %i
  switch i1 %c, label %never [
    i1 false, label %zero
    i1 true, label %one
  ]
zero:
  store i32 5, ptr addrspace(1) %q
  br label %end
one:
  store i32 7, ptr addrspace(1) %q
  br label %end
never:
  unreachable
end:
  ret void
}
declare i64 @_Z13get_global_idj(i32)
