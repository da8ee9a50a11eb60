; IR of SPIR is brought to the target: address spaces, conversions between what has become one, names and calling
; conventions of functions; and what may not be inlined is inlined. What is in constant memory is constant, which SPIR-V
; says with the storage class only.
;
; RUN: %heddle build -O0 --emit ir %s -o - | FileCheck %s
; RUN: %heddle run %s --kernel k --global 64 --local 32 --arg a=zeros:int32:64 -q
; RUN: sed 's/"spir64-/"spir-/' %s > %t.ll && not %heddle build %t.ll -o %t.o 2>&1 | FileCheck --check-prefix=NARROW %s
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

; CHECK: target triple = "nvptx64-unknown-unknown"
; CHECK: @table = {{.*}}addrspace(4) constant [2 x i32]
@table = addrspace(2) global [2 x i32] [i32 3, i32 5], align 4
@"text of addrspace(2)" = addrspace(2) constant [16 x i8] c"addrspace(2) st\00"
@tile = internal addrspace(3) global [32 x i32] undef, align 4

; NARROW: error: the code is for `spir-unknown-unknown`, whose addresses do not have 64 bits; compile it for spir64 or spirv64
; CHECK: define spir_kernel void @k(ptr addrspace(1)
; CHECK-NOT: call spir_func
; CHECK: load i32, ptr addrspace(4)
; CHECK-NOT: addrspacecast
; CHECK: atomicrmw {{.*}}add ptr addrspace(1)
; CHECK: ret void
define spir_kernel void @k(ptr addrspace(1) %a) {
  %private = alloca i32
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %even = and i64 %id, 1
  %entry = getelementptr inbounds [2 x i32], ptr addrspace(2) @table, i64 0, i64 %even
  %value = load i32, ptr addrspace(2) %entry
  store i32 %value, ptr %private
  %generic = addrspacecast ptr %private to ptr addrspace(4)
  %place = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %id
  %shared = addrspacecast ptr addrspace(1) %place to ptr addrspace(4)
  call spir_func void @add(ptr addrspace(4) %shared, ptr addrspace(4) %generic) noinline
  ret void
}

define spir_func void @add(ptr addrspace(4) %to, ptr addrspace(4) %from) noinline {
  %value = load i32, ptr addrspace(4) %from
  %old = call spir_func i32 @_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope(ptr addrspace(4) %to, i32 %value, i32 0, i32 2)
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i32 @_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope(ptr addrspace(4), i32, i32, i32)
