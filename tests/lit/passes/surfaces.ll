; G1-G3: surfaces by what is done with them: read or written, of one type or of several. A pointer of two surfaces belongs to neither.
; RUN: %heddle opt --passes='print<surfaces>' --disable-output %s | FileCheck %s

; CHECK-LABEL: surfaces of k:
; CHECK-NEXT: %typed: typed buffer, 1 loads, 0 stores, 0 reductions, of {i32}
; CHECK-NEXT: %raw: raw buffer, 2 loads, 0 stores, 0 reductions, of {float, i32}
; CHECK-NEXT: %out: typed UAV, 0 loads, 1 stores, 1 reductions, of {i32}
; CHECK-NEXT: %merged: untyped UAV, 0 loads, 0 stores, 0 reductions, of {}, written through a pointer that may point elsewhere
; CHECK-NEXT: %stored: untyped UAV, 0 loads, 0 stores, 0 reductions, of {}, escapes
; CHECK-NEXT: %unused: unused, 0 loads, 0 stores, 0 reductions, of {}
define spir_kernel void @k(ptr addrspace(1) %typed, ptr addrspace(4) %raw, ptr addrspace(1) %out, ptr addrspace(1) %merged,
                           ptr addrspace(1) %stored, ptr addrspace(1) %unused, ptr addrspace(3) %local, i1 %c) {
  %x = load i32, ptr addrspace(1) %typed
  %y = load i32, ptr addrspace(4) %raw
  %p = getelementptr float, ptr addrspace(4) %raw, i32 1
  %z = load float, ptr addrspace(4) %p
  store i32 %x, ptr addrspace(1) %out
  %old = atomicrmw add ptr addrspace(1) %out, i32 %y monotonic
  %q = select i1 %c, ptr addrspace(1) %merged, ptr addrspace(1) null
  store i32 %y, ptr addrspace(1) %q
  store ptr addrspace(1) %stored, ptr addrspace(3) %local
  ret void
}
