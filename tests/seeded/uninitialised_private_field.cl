// RUN: --kernel k --global 64 --local 32 --arg out=zeros:float32:64 --arg a=random:float32:64
// EXPECT: line 4: uninitialised; private memory
typedef struct { float x[4]; int count; } Stack;
void push(Stack *s, float f) { s->x[s->count++ & 3] = f; }
__kernel void k(__global float *out, __global const float *a) {
  int i = get_global_id(0);
  Stack s;
  push(&s, a[i]);
  push(&s, 2);
  out[i] = s.x[0] + s.x[1];
}
