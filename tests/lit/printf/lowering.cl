// A call reserves room with one atomic addition and stores its arguments; the loads of the kernel keep their cache policies, and nothing of it is
// taken for communication between work-groups.
// RUN: %heddle build %s --emit ir -o - | FileCheck %s --check-prefix=IR
// RUN: %heddle build %s --emit annotated-ir -o - | %heddle opt --passes=verify --disable-output -
// RUN: %heddle build %s --stop-after select -o %t.mir && FileCheck %s --check-prefix=MIR < %t.mir
// RUN: %heddle build %t.mir -o %t.o && %heddle objdump %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: %heddle build %s --emit asm -o %t.s && %heddle as %t.s -o %t2.o && %heddle objdump %t2.o | FileCheck %s --check-prefix=OBJECT

// IR: @heddle.printf.buffer = external addrspace(1) global i8
// IR: %[[AT:[0-9]+]] = atomicrmw add ptr addrspace(1) @heddle.printf.buffer, i64 16 monotonic
// IR: %[[END:.*]] = add i64 %[[AT]], 16
// IR: %[[ROOM:.*]] = call i32 @__heddle_printf_room()
// IR: zext i32 %[[ROOM]] to i64
// IR: icmp ule i64 %[[END]]
// IR: store double {{.*}}, align 8, {{.*}}!nontemporal
// IR: store i32 1, ptr addrspace(1) {{.*}}, align 8, {{.*}}!nontemporal
// IR: atomicrmw add ptr addrspace(1) getelementptr {{.*}}@heddle.printf.buffer, i64 8), i64 1 monotonic
// IR: !heddle.printf = !{![[F:[0-9]+]]}
// IR: ![[F]] = !{!"%d \22quoted\22 %f\0A", !"i32 f64"}

// MIR: printf "%d \"quoted\" %f\n" "i32 f64"
// MIR: arg printf-buffer "printf" "" offset 24 size 16 align 8
// MIR-NOT: .cg
// MIR: ld.global.b32
// MIR-NOT: .cg
// OBJECT: "printf":[{"format":"%d \"quoted\" %f\n","arguments":"i32 f64"}]
__kernel void k(__global const int *restrict n, __global float *a) {
  int i = get_global_id(0);
  printf("%d \"quoted\" %f\n", n[0], (double)a[i]);
  a[i] = n[1];
}
