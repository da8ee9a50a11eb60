// RUN: --kernel k --global 8 --local 8 --arg out=zeros:float32:8 --arg f32=2.5
// EXPECT: line 6: uninitialised; private memory; used at; cl:9
// Setting a component reads the vector; the use of another component is named too.
__kernel void k(__global float *out, float x) {
  float4 v;
  v.x = x;
  v.y = x;
  v.z = x;
  out[get_global_id(0)] = v.x + v.w;
}
