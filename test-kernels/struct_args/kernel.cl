// golden: Python integers
typedef struct { char scale; short table[3]; uchar tag; } Inner;
typedef struct { Inner inner; int2 bias; float4 quad; union { float f; uint u; } either; long big; } Outer;
long apply(Outer o, int x, int i) {
  o.inner.tag += 0; // a copy of the caller's
  return (long)x * o.inner.scale + o.inner.table[i % 3] + o.inner.tag + ((i & 1) ? o.bias.y : o.bias.x);
}
__kernel void use(__global const int *x, __global long *whole, __global float *real, __global uint *bits, Outer o, Inner unused) {
  int i = get_global_id(0);
  Outer copy = o;
  copy.quad *= 2.0f;
  float q[4];
  vstore4(copy.quad, 0, q);
  whole[i] = apply(o, x[i], i) * 4 + o.big + unused.tag;
  real[i] = q[i & 3];
  bits[i] = o.either.u + sizeof(Outer);
}
