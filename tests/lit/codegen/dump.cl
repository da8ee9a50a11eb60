// --dump: control flow, dependences and interference as DOT, in this order whatever the order asked for.
// RUN: %heddle build %s -o /dev/null --dump=interference,cfg --dump ddg | FileCheck %s
// RUN: rm -rf %t && %heddle build %s -o /dev/null --dump=cfg --dump-dir %t && FileCheck %s --check-prefix=FILE --input-file %t/k.cfg.dot
// A version of a kernel has a file, a title and statistics of its own.
// RUN: rm -rf %t && %heddle build %S/versions.cl -o %t.o --stats --dump=cfg --dump-dir %t 2>&1 | FileCheck %s --check-prefix=STATS
// RUN: FileCheck %s --check-prefix=GENERAL --input-file %t/sums.cfg.dot
// RUN: FileCheck %s --check-prefix=VERSION --input-file %t/sums.rows-fill-warps.cfg.dot
// STATS: "kernel":"sums","rows_fill_warps":false
// STATS: "kernel":"sums","rows_fill_warps":true
// GENERAL: digraph "sums" {
// VERSION: digraph "sums.rows-fill-warps" {
// CHECK: digraph "k" {
// CHECK: bb0 [label="bb0: frequency 1\l{{.*}}"
// CHECK: xlabel="divergent"
// CHECK: [[B:bb[0-9]+]] -> {{bb[0-9]+}} [label="taken"];
// CHECK: [[B]] -> {{bb[0-9]+}} [label="falls through"];
// CHECK: label="reconverges"
// CHECK: digraph "k" {
// CHECK: subgraph "cluster_bb0" {
// CHECK: bb0_0 [label="0: {{.*}}"];
// CHECK: bb0_{{[0-9]+}} -> bb0_{{[0-9]+}} [label="{{[0-9]+}}"];
// CHECK: graph "k" {
// CHECK: label="predicate";
// FILE: digraph "k" {
__kernel void k(__global int *a, __global const int *b) {
  int i = get_global_id(0);
  int x = b[i], y = b[i + 64];
  while (x > 1)
    x = (x >> 1) + (y & x);
  a[i] = x * y;
}
