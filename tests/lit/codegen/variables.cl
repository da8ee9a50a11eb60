// The stage `variables`: code is the same with -g, and each value that a variable is bound to is found where it is.
// RUN: %heddle build %s --verify -g --emit asm -o - | FileCheck %s
// RUN: %heddle build %s --verify -g --emit asm -o - | grep -v '^.kernel' > %t.with
// RUN: %heddle build %s --verify --emit asm -o - | grep -v '^.kernel' > %t.without
// RUN: cmp %t.with %t.without
// RUN: %heddle build %s --verify --emit asm -o - | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: "variables"
// CHECK: .kernel {{.*}}"variables":{"types":[
// CHECK-SAME: {"number":{"name":"int","bytes":4,"encoding":"signed"}}
// CHECK-SAME: "scopes":[{"parent":null,"function":"k","call":null}
// CHECK-SAME: "function":"twice","call":["{{.*}}variables.cl",26]
// The argument is in the constant bank all the time; the sum in a register from the addition to its last use.
// CHECK-SAME: "value":{"pieces":{{.*}}"words":[{"constant":4}]
// CHECK-SAME: "value":{"pieces":{{.*}}"words":[{"local":[0,

int twice(int x)
{
    return x + x;
}

__kernel void k(__global int *a, int n)
{
    int i = get_global_id(0);
    int v = a[i] + n;
    a[i] = twice(v) * i;
}

// Machine IR tells what holds before an instruction where that changes.
// RUN: %heddle build %s --verify -g --stop-after variables -o - | FileCheck %s --check-prefix=MIR
// MIR: bb0:
// MIR-NEXT: ; a = c[0x8]:c[0xc], n = c[0x10], i = gid.x
// MIR-NEXT: ld.global.b32{{.*}} [[V:l[0-9]+]], [t0] !0:25:13
// MIR: add.b32 [[V]], [[V]], c[0x10] !0:25:18
// MIR-NEXT: ; a = c[0x8]:c[0xc], n = c[0x10], i = gid.x, v = c0.[[V]], x = c0.[[V]]
// MIR-NEXT: mul.b32 [[V]],
// MIR-NEXT: ; a = c[0x8]:c[0xc], n = c[0x10], i = gid.x
// MIR-NEXT: st.global.b32
// MIR: exit
