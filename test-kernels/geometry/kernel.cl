// golden: numpy float64 with error bounds
__kernel void shapes(__global const float4 *a, __global const float4 *b, __global const float *t, __global float *perpendicular, __global float *unit,
                     __global float4 *scalars, __global float4 *mixed) {
  int i = get_global_id(0);
  float3 x = a[i].xyz, y = b[i].xyz;
  vstore3(cross(x, y), i, perpendicular);
  vstore3(normalize(x), i, unit);
  scalars[i] = (float4)(length(x), distance(x, y), dot(x, y), smoothstep(0.0f, 1.0f, t[i]) + step(0.0f, y.x));
  mixed[i] = mix(a[i], b[i], t[i]);
}
