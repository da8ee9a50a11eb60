; Types that no register holds are refused where values have them; bits of a table of them are read.
; RUN: not %heddle build %s -o %t.hob 2>&1 | FileCheck %s
; CHECK: unsupported-types.ll: error: kernel `argument` has an argument of type `bfloat`, which is not supported
; CHECK: unsupported-types.ll: error: kernel `sum`: the type `bfloat` is not supported
; CHECK-NEXT: in: %x = load bfloat
; CHECK: unsupported-types.ll: error: kernel `long_double`: the type `x86_fp80` is not supported
; CHECK-NEXT: in: %x = load x86_fp80
; CHECK: unsupported-types.ll: error: kernel `conversion`: the type `bfloat` is not supported
; CHECK-NEXT: in: %x = bitcast i16 %bits to bfloat
; CHECK-NEXT: unsupported-types.ll: error: kernel `conversion`: the type `bfloat` is not supported
; CHECK-NEXT: in: %v = call i4 @llvm.fptosi.sat.i4.bf16
; CHECK: unsupported-types.ll: error: kernel `scalable`: the type `<vscale x 4 x i32>` is not supported
; CHECK: unsupported-types.ll: error: kernel `mmx`: the type `x86_mmx` is not supported
; CHECK: unsupported-types.ll: error: kernel `variable`: the type `<vscale x 4 x i32>` is not supported
; CHECK-NEXT: in: %p = alloca <vscale x 4 x i32>
; CHECK: unsupported-types.ll: error: kernel `step`:
; CHECK: unsupported-types.ll: error: kernel `by_value` has an argument of type `<vscale x 4 x i32>`, which is not supported
; CHECK-NOT: kernel
; RUN: not %heddle build -O0 %s -o %t.hob 2>&1 | FileCheck %s --check-prefix=WHOLE
; WHOLE: unsupported-types.ll: error: kernel `step`: the type `<vscale x 4 x i32>` is not supported
; WHOLE-NEXT: in: %p = getelementptr
; RUN: sed -n -e '/^target/p' -e '/^@table/p' -e '/^declare i64/p' -e '/^define.*@table/,/^}/p' %s > %t.table.ll
; RUN: %heddle run %t.table.ll --kernel table_bits --global 4 --local 4 --arg out=zeros:int16:4,save=%t.npy
; RUN: od -An -v -tx2 -j128 %t.npy | FileCheck %s --check-prefix=TABLE
; TABLE: 3f80 4000 4040 4080
target triple = "nvptx64--"
@table = addrspace(4) constant [4 x bfloat] [bfloat 1.0, bfloat 2.0, bfloat 3.0, bfloat 4.0]
declare i64 @_Z13get_global_idj(i32)
declare i4 @llvm.fptosi.sat.i4.bf16(bfloat)
declare <vscale x 4 x i32> @llvm.stepvector.nxv4i32()

define spir_kernel void @argument(ptr addrspace(1) %out, bfloat %x) {
  ret void
}

define spir_kernel void @sum(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %x = load bfloat, ptr addrspace(1) %in
  %y = fadd bfloat %x, %x
  store bfloat %y, ptr addrspace(1) %out
  ret void
}

define spir_kernel void @long_double(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %x = load x86_fp80, ptr addrspace(1) %in
  store x86_fp80 %x, ptr addrspace(1) %out
  ret void
}

define spir_kernel void @conversion(ptr addrspace(1) %out, i16 %bits) {
  %x = bitcast i16 %bits to bfloat
  %v = call i4 @llvm.fptosi.sat.i4.bf16(bfloat %x)
  %w = sext i4 %v to i32
  store i32 %w, ptr addrspace(1) %out
  ret void
}

define spir_kernel void @scalable(ptr addrspace(1) %out) {
  %v = call <vscale x 4 x i32> @llvm.stepvector.nxv4i32()
  %e = extractelement <vscale x 4 x i32> %v, i32 0
  store i32 %e, ptr addrspace(1) %out
  ret void
}

define spir_kernel void @mmx(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %x = load x86_mmx, ptr addrspace(1) %in
  store x86_mmx %x, ptr addrspace(1) %out
  ret void
}

define spir_kernel void @variable(ptr addrspace(1) %out) {
  %p = alloca <vscale x 4 x i32>
  store volatile i32 1, ptr %p
  ret void
}

define spir_kernel void @step(ptr addrspace(1) %out) {
  %p = getelementptr <vscale x 4 x i32>, ptr addrspace(1) %out, i64 1
  store i32 1, ptr addrspace(1) %p
  ret void
}

define spir_kernel void @by_value(ptr addrspace(1) %out, ptr byval(<vscale x 4 x i32>) %p) {
  ret void
}

; Not refused: nothing works on what is in there.
define spir_kernel void @table_bits(ptr addrspace(1) %out) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %g = getelementptr bfloat, ptr addrspace(4) @table, i64 %i
  %x = load i16, ptr addrspace(4) %g
  %o = getelementptr i16, ptr addrspace(1) %out, i64 %i
  store i16 %x, ptr addrspace(1) %o
  ret void
}
