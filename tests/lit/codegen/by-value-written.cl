// A by-value structure that the kernel writes, or whose address it takes, has a copy in private memory. What that holds is another value in each
// lane, so it is loaded once a lane even from a uniform index; a structure that is only read stays in the constant bank.
// RUN: %heddle build %s --emit asm -o - --verify | FileCheck %s
// RUN: %heddle build %s --emit asm -o - --verify --no-scalarize | FileCheck %s --check-prefix=VECTOR
struct s {
  int x[20];
};

// CHECK: "name":"written"
// CHECK-NOT: "name":"taken"
// CHECK: st.private
// CHECK-NOT: ld.private.b32 s
// CHECK: ld.private.b32 {{[ml]}}
// VECTOR: ld.private.b32 {{[ml]}}
__kernel void written(struct s v, __global int *a, int n) {
  v.x[n] = 7;
  a[0] = v.x[a[1]];
}

// CHECK: "name":"taken"
// CHECK-NOT: ld.private.b32 s
// CHECK: ld.private.b32 {{[ml]}}
__kernel void taken(struct s v, __global int *a) {
  a[0] = v.x[a[1]];
  a[2] = (int)(long)&v;
}

// CHECK: "name":"only_read"
// CHECK: ld.argument.b32 s
__kernel void only_read(struct s v, __global int *a) {
  a[0] = v.x[a[1]];
}
