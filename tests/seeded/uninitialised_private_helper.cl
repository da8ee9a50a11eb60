// RUN: --kernel k --global 128 --local 64 --arg a=random:int32:128
// EXPECT: line 11: uninitialised; private memory
static void find(int v, int *where) {
  if (v > 30)
    *where = v;
}
__kernel void k(__global int *a) {
  int i = get_global_id(0);
  int where;
  find(a[i], &where);
  a[i] = where;
}
