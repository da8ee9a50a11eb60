// RUN: --kernel k --global 128 --local 64 --arg a=random:float32:128 --arg b=zeros:float32:512
// EXPECT: no report
struct flags { uint low; uint high; float unused; };
// Components are written one by one, and some copies are of bytes nobody wrote.
__kernel void k(__global float *a, __global float4 *b) {
  int i = get_global_id(0);
  float4 v;
  v.x = a[i];
  v.y = 2 * v.x;
  if (v.y > 1)
    v.zw = v.xy;
  else
    v.zw = v.yx;
  struct flags f, g;
  f.low = i & 3;
  f.high = i; // f.unused is copied, but nobody looks at it.
  g = f;
  float late;
  if (v.x > 0.5f)
    late = v.x;
  v.w += g.low + g.high;
  if (v.x > 0.5f)
    v.w += late;
  b[i] = v;
}
