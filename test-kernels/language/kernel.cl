// Golden: Python integers (generate.py); types, variables and control flow of the language.
#include "inner.h"
#define QUOTED(x) #x
#define QUOTE(x) QUOTED(x)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef union {
  float f;
  uint u;
  uchar b[4];
} bits;

typedef struct __attribute__((packed)) {
  char low;
  int middle;
  short high;
} fields;

typedef struct {
  char tag;
  int3 v;
  float2 w;
} item;

__constant int small[3] = {2, 3, 5};
__constant int large[3] = {7, 11, 13};
__constant int *__constant tables[2] = {small, large};
__constant char *__constant names[3] = {"abc", "bbc", "cbc"};
__global int five = 5;
__global struct { int a; int b[3]; } more = {1, {2, 16, 4}};
__global int *__global pointer = &more.b[1];

int duff(__global const int *a, int n) {
  int s = 0, k = 0;
  int rounds = (n + 3) / 4;
  if (n == 0) return 0;
  switch (n % 4) {
    case 0: do { s += a[k++] & 255;
    case 3:      s += a[k++] & 255;
    case 2:      s += a[k++] & 255;
    case 1:      s += a[k++] & 255;
            } while (--rounds > 0);
  }
  return s;
}

int irreducible(int v) {
  int x = v & 15, steps = 0;
  if (v & 1) goto left;
right:
  x += 5;
  steps += 100;
  if (x > 50) goto end;
left:
  x += 3;
  steps += 1;
  if (x > 40) goto end;
  goto right;
end:
  return x * 1000 + steps;
}

__attribute__((noinline)) static int never(int n) {
  int s = 0;
  __attribute__((opencl_unroll_hint(3))) for (int k = 0; k < n; k++) s += k;
  return s;
}

__attribute__((always_inline)) static int always(int x) { return x + 1; }

__kernel void callee(__global const int *a, __global int *called) { called[get_global_id(0)] = always(a[get_global_id(0)]); }

__attribute__((reqd_work_group_size(16, 1, 1), vec_type_hint(float4), work_group_size_hint(16, 1, 1)))
__kernel void language(__global const int *a, __global int *out, __global int *called) {
  int i = get_global_id(0), j = get_local_id(0), v = a[i];
  __global int *o = out + 24 * i;
  bits u;
  u.f = i * 0.5f;
  o[0] = u.u;
  u.u = v;
  o[1] = u.b[1];

  fields f;
  f.low = v;
  f.middle = v >> 5;
  f.high = v >> 16;
  fields g = f;
  o[2] = g.low + g.middle + g.high + sizeof(fields);

  item items[4];
  for (int k = 0; k < 4; k++) {
    items[k].tag = k;
    items[k].v = (int3)(i, i + 1, i + 2);
    items[k].w = (float2)(k, i);
  }
  int at = v & 3;
  o[3] = items[at].v.z * 3 + items[at].v.y + items[at].tag - at;
  o[4] = sizeof(item) + (items[at].w.x != at);
  int3 t = items[at].v;
  o[5] = t.x * 1 + t.y * 2 + t.z * 3;

  o[6] = tables[0][i % 3] + tables[1][i % 3];
  o[7] = names[i % 3][0];
  o[8] = five;
  o[9] = *pointer + more.a;
  o[10] = duff(a, v % 23);
  o[11] = irreducible(v);
  int s = 0;
  switch (v % 5) {
    case 0: s += 1;
    case 1: s += 10;
    case 2: s += 100; break;
    case 3: s += 1000;
    default: s += 10000;
  }
  o[12] = s;

  double3 d = (double3)(i, i + 1, i + 2);
  o[13] = (int)(d.x + d.y + d.z);
  uchar16 c = as_uchar16((int4)(v));
  ushort8 half_sums = convert_ushort8(c.lo) + convert_ushort8(c.hi);
  ushort4 quarter = half_sums.lo + half_sums.hi;
  o[14] = quarter.x + quarter.y + quarter.z + quarter.w;
  short storage[2];
  vstore_half(i * 2.0f + 1.0f, j & 1, (half *)storage);
  o[15] = (int)vload_half(j & 1, (half *)storage);
  o[16] = as_int(as_short2(v).yx);

  __local int first[16];
  first[j] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  __local int second[16];
  second[j] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[17] = first[j ^ 1] ^ second[j ^ 2];

  callee(a, called);
  o[18] = always(v);
  o[19] = from_header(v);
  o[20] = never(i % 7);
  o[21] = SEVEN + sizeof(QUOTE(TEXT)) - 1;

  // Pointers to pointers.
  int x[4] = {0, 11, 22, 33};
  int *rows[4] = {x, x + 1, x + 2, x + 3};
  int **row = rows + (i % 4);
  o[22] = **row;
  int y = v;
  int *p = &y;
  int **pp = &p;
  **pp += i;
  o[23] = y & 0x7fff;
}
