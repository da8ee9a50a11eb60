// Golden: Python integers (generate.py); the generic address space of OpenCL C 3.0.
typedef struct node {
  int value;
  struct node *next;
} node;

int get(const int *p) { return *p; }

void put(int *p, int v) { *p = v; }

int sum(const int *const *list, int n) {
  int s = 0;
  for (int k = 0; k < n; k++) s += *list[k];
  return s;
}

int walk(const node *n) {
  int s = 0;
  for (; n != NULL; n = n->next) s += n->value;
  return s;
}

typedef struct {
  int x[4];
} quad;

__kernel void spaces(__global int *a, __global int *out, __global int *counts, __global int *copied, __local int *l) {
  __local node shared[32];
  __local atomic_int total;
  int i = get_global_id(0), j = get_local_id(0);
  int p[4];
  for (int k = 0; k < 4; k++) p[k] = i * 10 + k;
  l[j] = a[i] * 3;
  if (j == 0) atomic_init(&total, 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  __global int *o = out + 12 * i;

  // One of three spaces by data.
  int which = (a[i] & 0xffff) % 3;
  int *any = which == 0 ? (int *)(a + i) : which == 1 ? (int *)(l + j) : p + (j & 3);
  o[0] = get(any);
  o[1] = *any + 1;
  o[2] = to_global(any) ? 0 : to_local(any) ? 1 : to_private(any) ? 2 : 3;
  o[3] = get_fence(any);

  // Structures that point into other spaces.
  node mine = {p[0], &shared[j]};
  shared[j].value = l[(j + 1) % 32];
  shared[j].next = NULL;
  o[4] = walk(&mine) + a[i];

  // Pointers to pointers in private memory.
  int *list[3] = {a + i, l + j, p + 3};
  o[5] = *list[(i + 1) % 3];
  int *maybe = i % 4 == 0 ? NULL : any;
  o[6] = maybe == NULL;
  list[2] = p + 1;
  int **again = list;
  o[7] = sum((const int *const *)again, 3);

  // Writes and atomics.
  int own = i % 5;
  atomic_int counter;
  atomic_init(&counter, own + 7);
  volatile atomic_int *c = i & 1 ? (volatile atomic_int *)&counter : (volatile atomic_int *)&counter;
  atomic_fetch_add(c, 1);
  o[8] = atomic_load(&counter);
  volatile atomic_int *where = i < 1000 ? (volatile atomic_int *)(counts + which) : (volatile atomic_int *)&total;
  atomic_fetch_add(where, 1);
  put(i & 1 ? (int *)(o + 9) : &own, 100 + i);
  if (!(i & 1)) o[9] = own;

  // A copy of a structure from anywhere.
  quad q = {{p[0], 0, 0, 0}};
  quad from;
  const int *source = i % 3 == 0 ? (int *)(a + i) : i % 3 == 1 ? (int *)(l + j) : q.x;
  int *target = i & 2 ? (int *)(copied + i) : from.x;
  *target = *source;
  if (!(i & 2)) copied[i] = from.x[0];
}
