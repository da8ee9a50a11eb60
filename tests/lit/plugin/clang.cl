// clang with the plug-in annotates kernels at the end of its pipeline, whatever the level; nothing of Heddle's driver is needed.
// RUN: clang -x cl -cl-std=CL3.0 --target=nvptx64-- -O2 -S -emit-llvm -fpass-plugin=%plugin %s -o %t.ll && FileCheck %s < %t.ll
// RUN: clang -x cl -cl-std=CL3.0 --target=nvptx64-- -O0 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s --check-prefix=O0
// The result goes through Heddle as any other IR.
// RUN: %heddle build %t.ll -o %t.o

// -heddle-passes chooses the passes; clang knows the option if -fplugin has loaded the plug-in.
// RUN: clang -x cl -cl-std=CL3.0 --target=nvptx64-- -O2 -S -emit-llvm -fplugin=%plugin -fpass-plugin=%plugin -mllvm -heddle-passes='print<heddle-cache-hints>' -fno-discard-value-names %s -o %t.plain.ll 2>&1 | FileCheck %s --check-prefix=PRINTED
// RUN: FileCheck %s --check-prefix=PLAIN --implicit-check-not=heddle < %t.plain.ll
// RUN: clang -x cl -cl-std=CL3.0 --target=nvptx64-- -O2 -S -emit-llvm -fplugin=%plugin -fpass-plugin=%plugin -mllvm -heddle-passes= %s -o - | FileCheck %s --check-prefix=PLAIN --implicit-check-not=heddle
// RUN: not clang -x cl -cl-std=CL3.0 --target=nvptx64-- -O2 -S -emit-llvm -fplugin=%plugin -fpass-plugin=%plugin -mllvm -heddle-passes=nonsense %s -o - 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: -heddle-passes=nonsense: unknown pass name 'nonsense'

// CHECK: define {{.*}}spir_kernel void @scale({{.*}}!heddle.views [[VIEWS:![0-9]+]]
// CHECK: call i64 @_Z13get_global_idj(i32 {{.*}}0){{.*}} !heddle.uniformity [[V:![0-9]+]]
// CHECK: load float, {{.*}} !heddle.uniformity [[U:![0-9]+]], !heddle.global-id [[SAME:![0-9]+]], !heddle.cache [[UNIFORM:![0-9]+]]
// CHECK: load float, {{.*}} !heddle.uniformity [[V]], !heddle.global-id [[PLACE:![0-9]+]], !heddle.cache [[ONCE:![0-9]+]]
// CHECK: store float {{.*}} !heddle.global-id [[PLACE]], !heddle.cache
// CHECK-DAG: [[V]] = !{!"varying"}
// CHECK-DAG: [[U]] = !{!"uniform"}
// CHECK-DAG: [[PLACE]] = !{!"t0(0, 0, 0)"}
// CHECK-DAG: [[SAME]] = !{!"kept", !"all work-items access the same place"}
// CHECK-DAG: [[ONCE]] = !{!"cs", !"touched once"}
// CHECK-DAG: [[UNIFORM]] = !{!"ca", !"same address in all lanes, read-only, and the data L1 has room"}

// Without optimisation functions are not to be optimised, and are annotated nevertheless.
// O0: define {{.*}}spir_kernel void @scale({{.*}} [[ATTRIBUTES:#[0-9]+]]
// O0: call i64 @_Z13get_global_idj(i32 {{.*}}0){{.*}} !heddle.uniformity
// O0: attributes [[ATTRIBUTES]] = {{.*}} optnone

// PRINTED: cache hints of scale:
// PRINTED-NEXT: %f: load ca, same address in all lanes, read-only
// PRINTED-NEXT: %a: load cs, touched once
// PRINTED-NEXT: %a: store wb, written for others to read

// PLAIN: define {{.*}}spir_kernel void @scale(
__kernel void scale(__global float *restrict a, __global const float *restrict f) {
  size_t i = get_global_id(0);
  a[i] = f[0] * a[i];
}
